package toolkit

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/protocol"
)

// Kinds of values in a schema.
const (
	kindText    = "string"
	kindNumber  = "number"
	kindInteger = "integer"
	kindBoolean = "boolean"
	kindList    = "array"
	kindObject  = "object"
)

// quotedValue finds arguments that may have a number, true, false, a list or an object in quotes.
var quotedValue = regexp.MustCompile(`"(?:(?:true|false|-?\d[\d.eE+-]*)"|[\[{])`)

// unquote returns args with numbers, true, false, lists and objects instead of texts that are
// exactly one, where the schema allows them and no text. Small models put such values in quotes.
// Other arguments are returned as they are. The result is shorter when something was converted.
func unquote(schema *jsonschema.Schema, args json.RawMessage) json.RawMessage {
	if schema == nil || !quotedValue.Match(args) || !json.Valid(args) {
		return args
	}
	u := unquoter{root: schema}
	tree := u.value(decodeExactly(args))
	if !u.changed {
		return args
	}
	out, err := protocol.Marshal(tree)
	if err != nil {
		return args
	}
	return out
}

// decodeExactly decodes valid JSON. Numbers stay exact.
func decodeExactly(raw []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	_ = dec.Decode(&v)
	return v
}

type unquoter struct {
	root    *jsonschema.Schema
	path    []any // names and indexes of the current value
	changed bool
}

// value converts v and everything in it.
func (u *unquoter) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			v[name] = u.child(name, child)
		}
	case []any:
		for i, child := range v {
			v[i] = u.child(i, child)
		}
	case json.Number:
		return json.RawMessage(v) // its digits
	case string:
		plain, kind := valueOf(v)
		if kind != "" && !u.allows(u.root, u.path, kindText, 0) && u.allows(u.root, u.path, kind, 0) {
			u.changed = true
			return u.value(plain)
		}
	}
	return v
}

func (u *unquoter) child(key, v any) any {
	u.path = append(u.path, key)
	v = u.value(v)
	u.path = u.path[:len(u.path)-1]
	return v
}

// valueOf returns the number, true, false, list or object that a text is, and its kind; "" for
// another text.
func valueOf(text string) (v any, kind string) {
	switch text {
	case "true", "false":
		return text == "true", kindBoolean
	}
	if begin := text[:min(len(text), 1)]; (begin == "[" || begin == "{") && json.Valid([]byte(text)) && checkDuplicates([]byte(text)) == nil {
		kind = map[string]string{"[": kindList, "{": kindObject}[begin]
		return decodeExactly([]byte(text)), kind
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !json.Valid([]byte(text)) {
		return nil, ""
	}
	if !strings.ContainsAny(text, ".eE") || n == math.Trunc(n) && math.Abs(n) <= maxWholeNumber {
		return json.RawMessage(text), kindInteger
	}
	return json.RawMessage(text), kindNumber
}

// maxSchemaDepth limits references and alternatives in each other: a schema of others may be
// circular.
const maxSchemaDepth = 32

// allows reports whether s allows a value of a kind at a path below it. It answers yes when the
// schema does not say, such as for a reference to somewhere else.
func (u *unquoter) allows(s *jsonschema.Schema, path []any, kind string, depth int) bool {
	if s == nil || depth > maxSchemaDepth {
		return true
	}
	depth++
	if s.Ref != "" && !u.allows(u.definition(s.Ref), path, kind, depth) {
		return false
	}
	if len(path) == 0 {
		if !allowsHere(s, kind) {
			return false
		}
	} else if !u.allows(childSchema(s, path[0]), path[1:], kind, depth) {
		return false
	}
	here := func(other *jsonschema.Schema) bool { return u.allows(other, path, kind, depth) }
	return (len(s.AnyOf) == 0 || slices.ContainsFunc(s.AnyOf, here)) &&
		(len(s.OneOf) == 0 || slices.ContainsFunc(s.OneOf, here)) &&
		!slices.ContainsFunc(s.AllOf, func(other *jsonschema.Schema) bool { return !here(other) })
}

// definition returns the schema that a reference within the document means, or nil.
func (u *unquoter) definition(ref string) *jsonschema.Schema {
	for prefix, defs := range map[string]map[string]*jsonschema.Schema{"#/$defs/": u.root.Defs, "#/definitions/": u.root.Definitions} {
		if name, ok := strings.CutPrefix(ref, prefix); ok {
			return defs[name]
		}
	}
	return nil
}

// allowsHere reports whether the types and fixed values of s allow a kind.
func allowsHere(s *jsonschema.Schema, kind string) bool {
	types := typesOf(s)
	if len(types) > 0 && !slices.Contains(types, kind) && (kind != kindInteger || !slices.Contains(types, kindNumber)) {
		return false
	}
	isKind := func(v any) bool {
		switch v.(type) {
		case string:
			return kind == kindText
		case bool:
			return kind == kindBoolean
		case float64:
			return kind == kindNumber || kind == kindInteger
		}
		return false
	}
	return (s.Const == nil || isKind(*s.Const)) && (s.Enum == nil || slices.ContainsFunc(s.Enum, isKind))
}

// typesOf returns the types that s allows; none means all.
func typesOf(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

// childSchema returns the schema of an entry of an object or list, or nil.
func childSchema(s *jsonschema.Schema, key any) *jsonschema.Schema {
	switch key := key.(type) {
	case string:
		if p, ok := s.Properties[key]; ok {
			return p
		}
		for pattern, p := range s.PatternProperties {
			if re, err := regexp.Compile(pattern); err == nil && re.MatchString(key) {
				return p
			}
		}
		return s.AdditionalProperties
	case int:
		for _, list := range [][]*jsonschema.Schema{s.PrefixItems, s.ItemsArray} {
			if key < len(list) {
				return list[key]
			}
		}
		return s.Items
	}
	return nil
}
