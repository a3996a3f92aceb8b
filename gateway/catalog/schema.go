package catalog

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/protocol"
)

// inputSchema infers the schema of a tool's arguments, which is strict: unknown fields are refused.
// The tag jsonschema describes a field, and the type of a field with fixed values lists them.
func inputSchema[T any]() *jsonschema.Schema {
	s := mustInfer[T]()
	normalize(s, false)
	return s
}

// outputSchema infers the schema of a result, which is open: a newer version may add fields.
func outputSchema[T any]() *jsonschema.Schema {
	s := mustInfer[T]()
	normalize(s, true)
	return s
}

func mustInfer[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: typeSchemas})
	if err != nil {
		panic("catalog: infer a schema: " + err.Error())
	}
	return s
}

// normalize removes null from types, which some clients do not understand, and opens objects.
func normalize(s *jsonschema.Schema, open bool) {
	if s == nil {
		return
	}
	if len(s.Types) > 0 {
		if i := slices.IndexFunc(s.Types, func(t string) bool { return t != "null" }); i >= 0 {
			s.Type, s.Types = s.Types[i], nil
		}
	}
	if open {
		openObject(s)
	}
	for _, p := range s.Properties {
		normalize(p, open)
	}
	normalize(s.Items, open)
	if len(s.Properties) == 0 { // the values of a map
		normalize(s.AdditionalProperties, open)
	}
}

// openObject lets an object have further fields. One without fields is a map, whose values have a
// schema.
func openObject(s *jsonschema.Schema) {
	if len(s.Properties) > 0 {
		s.AdditionalProperties = nil
	}
}

// openAll opens the objects in a schema that somebody else has made. It leaves null in types, which
// may be a value there.
func openAll(list ...*jsonschema.Schema) {
	for _, s := range list {
		if s == nil {
			continue
		}
		openObject(s)
		openAll(slices.Collect(maps.Values(s.Properties))...)
		openAll(s.Items, s.AdditionalProperties)
		openAll(s.AnyOf...)
	}
}

func mustJSON(v any) json.RawMessage {
	raw, err := protocol.Marshal(v)
	if err != nil {
		panic("catalog: encode a schema: " + err.Error())
	}
	return raw
}
