package catalog

import (
	"encoding/json"
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
	if s.Type == "object" && open && len(s.Properties) > 0 {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		normalize(p, open)
	}
	normalize(s.Items, open)
	if len(s.Properties) == 0 { // the values of a map
		normalize(s.AdditionalProperties, open)
	}
}

func mustJSON(v any) json.RawMessage {
	raw, err := protocol.Marshal(v)
	if err != nil {
		panic("catalog: encode a schema: " + err.Error())
	}
	return raw
}
