package toolkit

import (
	"encoding/json"
	"slices"

	"fairlead/gateway/protocol"
)

// flat is a schema whose arguments are only strings, numbers and booleans without further
// conditions, as most tools have. It recognizes valid arguments without decoding them, which would
// take as long as a third of everything else that a gateway does for a small call.
type flat struct {
	of       map[string]flatArgument
	required uint64 // as bits
}

type flatArgument struct {
	kind byte // the first letter of its type
	bit  uint64
}

// flatten returns nil for a schema with anything else.
func flatten(schema json.RawMessage) *flat {
	var top map[string]json.RawMessage
	var args map[string]map[string]json.RawMessage
	var required []string
	if json.Unmarshal(schema, &top) != nil || json.Unmarshal(top["properties"], &args) != nil || len(args) > 64 {
		return nil
	}
	if raw, ok := top["required"]; ok && json.Unmarshal(raw, &required) != nil {
		return nil
	}
	// Only declared arguments are accepted, so additionalProperties does not matter.
	if string(top["type"]) != `"object"` || !onlyHas(top, "type", "properties", "required", "additionalProperties", "title", "description") {
		return nil
	}
	f := &flat{of: make(map[string]flatArgument, len(args))}
	for name, p := range args {
		var kind string
		if json.Unmarshal(p["type"], &kind) != nil || !slices.Contains([]string{"string", "number", "integer", "boolean"}, kind) || !onlyHas(p, "type", "title", "description") {
			return nil
		}
		f.of[name] = flatArgument{kind[0], 1 << len(f.of)}
	}
	for _, name := range required {
		a, ok := f.of[name]
		if !ok {
			return nil
		}
		f.required |= a.bit
	}
	return f
}

func onlyHas(m map[string]json.RawMessage, names ...string) bool {
	for name := range m {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// fits reports whether the arguments are certainly valid. If it reports false, the general
// validation decides.
func (f *flat) fits(args json.RawMessage) bool {
	if f == nil || !json.Valid(args) {
		return false
	}
	var seen uint64
	return protocol.Members(args, func(name string, value []byte) bool {
		a, ok := f.of[name]
		if !ok || seen&a.bit != 0 {
			return false
		}
		seen |= a.bit
		switch c := value[0]; a.kind {
		case 's':
			return c == '"'
		case 'b':
			return c == 't' || c == 'f'
		case 'i':
			return number(value, false)
		default:
			return number(value, true)
		}
	}) && seen&f.required == f.required
}

// number reports whether valid JSON is a number of a few digits.
func number(value []byte, fraction bool) bool {
	if len(value) > 15 {
		return false
	}
	for _, c := range value {
		if (c < '0' || c > '9') && c != '-' && (c != '.' || !fraction) {
			return false
		}
	}
	return true
}
