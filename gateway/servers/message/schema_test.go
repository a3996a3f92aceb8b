package message

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSchemasThatProvidersRefuseAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		`{"type":"object"}`: true,
		`{"type":"object","properties":{"type":{"type":["string","null"]},"n":{"type":"integer","exclusiveMinimum":true,"enum":[1]}},"required":["n"],"additionalProperties":false}`:  true,
		`{"type":"object","properties":{"list":{"type":"array","items":{"anyOf":[{"type":"string"},true]}}},"$defs":{"a":{}}}`:                                                        true,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"#/properties/c/anyOf/0"},"c":{"anyOf":[{"$ref":"#"}]}},"$defs":{"x":{"$ref":"#/$defs/y~1z"},"y/z":{}}}`: true,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}}}`:                                      false,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"#/$defs/x"}}}`:   false,
		`{"type":"object","properties":{"a":{"$ref":"https://json-schema.org/schema"}}}`:                 false,
		`{"type":"object","properties":{"a":{"$ref":7}}}`:                                                false,
		`{"type":"object","properties":{"a":{"enum":[]}}}`:                                               false,
		`{"type":"object","properties":{"a":{"type":[]}}}`:                                               false,
		`{"type":"object","anyOf":[]}`:                                                                   false,
		`{"type":"object","additionalProperties":"no"}`:                                                  false,
		`{"type":"object","additionalProperties":{"type":"string"},"not":{"required":["x"]}}`:            true,
		`{"type":"object","properties":{"a":{"type":"string","pattern":5}}}`:                             false,
		`{"type":"object","properties":7}`:                                                               false,
		`{"type":"object","properties":{"a":"string"}}`:                                                  false,
		`{"type":"object","properties":{"a":{"type":"str"}}}`:                                            false,
		`{"type":"object","properties":{"a":{"description":7}}}`:                                         false,
		`{"type":"object","required":"a"}`:                                                               false,
		`{"type":"object","required":[7]}`:                                                               false,
		`{"type":"object","anyOf":{}}`:                                                                   false,
		`{"type":"string"}`:                                                                              false,
		`[]`:                                                                                             false,
		`{"type":"object","items":` + strings.Repeat(`{"items":`, 100) + `{}` + strings.Repeat("}", 101): false,
	} {
		var schema any
		if err := json.Unmarshal([]byte(text), &schema); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := IsObjectSchema(schema); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
