package toolkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Several programs read the arguments of a call, each with its own JSON decoder. Arguments that
// they could read differently are refused, so that the call that was allowed is the one that runs:
// duplicate names, and names that differ from an argument's name only in case.

// removeNulls removes nulls for optional arguments from v, which schema describes, and refuses names
// that differ from an argument's name only in case.
func removeNulls(schema *jsonschema.Schema, v any) error {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			p, declared := schema.Properties[name]
			if declared && p == nil {
				continue // a foreign schema without a description of this value
			}
			if !declared {
				for known := range schema.Properties {
					if strings.EqualFold(known, name) {
						return fmt.Errorf("there is no argument %q; it is called %q", name, known)
					}
				}
				continue
			}
			switch {
			case value != nil:
				if err := removeNulls(p, value); err != nil {
					return err
				}
			case !slices.Contains(schema.Required, name):
				delete(v, name)
			case p.Type != "" && p.Type != "null":
				return fmt.Errorf("%q must be given; it is null", name)
			}
		}
	case []any:
		if schema.Items == nil {
			return nil
		}
		for _, value := range v {
			if err := removeNulls(schema.Items, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkAmbiguity refuses ambiguous arguments when their schema is unknown.
func checkAmbiguity(args []byte) error {
	var top map[string]json.RawMessage
	if json.Unmarshal(args, &top) != nil {
		return nil
	}
	if err := checkDuplicates(args); err != nil {
		return &InputError{err}
	}
	folded := make(map[string]string, len(top))
	for name := range top {
		key := strings.ToLower(strings.ToUpper(name))
		if other, ok := folded[key]; ok {
			return &InputError{fmt.Errorf("the arguments %q and %q differ in the case of letters only", min(name, other), max(name, other))}
		}
		folded[key] = name
	}
	return nil
}

// checkDuplicates refuses valid JSON with a duplicate name in an object.
func checkDuplicates(text []byte) error {
	return checkNames(json.NewDecoder(bytes.NewReader(text)))
}

// checkNames reads one value, and refuses a duplicate name in it.
func checkNames(dec *json.Decoder) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		seen := make(map[json.Token]bool)
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			if seen[name] {
				return fmt.Errorf("%q is there twice", name)
			}
			seen[name] = true
			if err := checkNames(dec); err != nil {
				return err
			}
		}
	case json.Delim('['):
		for dec.More() {
			if err := checkNames(dec); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = dec.Token() // the closing bracket
	return err
}
