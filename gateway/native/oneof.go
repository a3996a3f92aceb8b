package native

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// oneOf sets the valid values of a parameter in the tool's schema.
func oneOf(t toolkit.Tool[tool.Call], parameter string, texts ...any) toolkit.Tool[tool.Call] {
	var s jsonschema.Schema
	err := json.Unmarshal(t.Spec.InputSchema, &s)
	if err == nil {
		s.Properties[parameter].Enum = texts
		t.Spec.InputSchema, err = protocol.Marshal(&s)
	}
	if err != nil {
		panic(err) // the schema is part of the program
	}
	return t
}
