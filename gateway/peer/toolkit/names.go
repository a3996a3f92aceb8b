package toolkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Several programs read the arguments of a call, each with its own JSON decoder: the gateway's
// rules, the person's window, the machine. Arguments that they could read differently are refused,
// so that the call that was allowed is the call that runs: duplicate names, and names that differ
// from an argument's name only in case.

// settle removes nulls for optional arguments from v, which schema describes, and refuses names
// that differ from an argument's name only in case.
func settle(schema *jsonschema.Schema, v any) error {
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
				if err := settle(p, value); err != nil {
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
			if err := settle(schema.Items, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// unclear refuses ambiguous arguments when their schema is unknown.
func unclear(args []byte) error {
	var top map[string]json.RawMessage
	if json.Unmarshal(args, &top) != nil {
		return nil
	}
	if err := once(args); err != nil {
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

// once refuses valid JSON with a duplicate name in an object.
func once(text []byte) error {
	s := names{text: text}
	s.value()
	if s.twice != "" {
		return fmt.Errorf("%q is there twice", s.twice)
	}
	return nil
}

// names scans valid JSON for names.
type names struct {
	text  []byte
	at    int
	twice string // a name that occurs twice in an object
}

func (s *names) value() {
	switch s.peek() {
	case '{':
		seen := make(map[string]bool)
		s.list('}', func() {
			name := s.name()
			if seen[name] {
				s.twice = name
			}
			seen[name] = true
			s.peek()
			s.at++ // the colon
			s.value()
		})
	case '[':
		s.list(']', s.value)
	case '"':
		s.str()
	default:
		for s.at < len(s.text) && bytes.IndexByte([]byte(",]} \t\r\n"), s.text[s.at]) < 0 {
			s.at++
		}
	}
}

// list scans the elements between brackets.
func (s *names) list(end byte, element func()) {
	for s.at++; s.at < len(s.text); {
		switch s.peek() {
		case end:
			s.at++
			return
		case ',':
			s.at++
		default:
			element()
		}
	}
}

// peek returns the next byte that is not white space; 0 at the end.
func (s *names) peek() byte {
	for s.at < len(s.text) && bytes.IndexByte([]byte(" \t\r\n"), s.text[s.at]) >= 0 {
		s.at++
	}
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *names) name() string {
	s.peek()
	raw := s.str()
	if bytes.IndexByte(raw, '\\') < 0 && len(raw) > 1 {
		return string(raw[1 : len(raw)-1])
	}
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return string(raw)
	}
	return name
}

// str returns the string at the current position, with its quotes.
func (s *names) str() []byte {
	from := s.at
	for s.at++; s.at < len(s.text); {
		i := bytes.IndexByte(s.text[s.at:], '"')
		if i < 0 {
			s.at = len(s.text)
			break
		}
		end := s.at + i
		s.at = end + 1
		escapes := 0
		for end-escapes-1 > from && s.text[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			break
		}
	}
	return s.text[from:s.at]
}
