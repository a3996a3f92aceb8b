package catalog

import (
	"encoding/json"
	"testing"

	"fairlead/gateway/protocol"
)

func TestExtraToolsHaveTheSchemasOfTheirResults(t *testing.T) {
	const fault = `"fault":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"retryable":{"type":"boolean"},"details":{"type":"object"}},"required":["code","message","retryable"]}`
	const entry = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]`
	for _, c := range []struct{ name, tool, schema, want string }{
		{
			"open objects", "nas__Glob", `{"type":"object","properties":{"list":{"type":["null","array"],"items":` + entry + `,"additionalProperties":false}}},"additionalProperties":false}`,
			`{"type":"object","properties":{"list":{"type":["null","array"],"items":` + entry + `}}}}`,
		},
		{
			"alternatives", "nas__Read", `{"type":"object","anyOf":[` + entry + `,"additionalProperties":false},{"type":"object","additionalProperties":{"type":"string"}}]}`,
			`{"type":"object","anyOf":[` + entry + `},{"type":"object","additionalProperties":{"type":"string"}}]}`,
		},
		{"none", "nas__Process", ``, `{"type":"object"}`},
		{"no object", "nas__Say", `{"type":"string"}`, `{"type":"object"}`},
		{"not valid", "nas__Odd", `{"type":7}`, `{"type":"object"}`},
		{"a reference", "nas__Loop", `{"type":"object","properties":{"x":{"$ref":"#"}}}`, `{"type":"object"}`},
		{"of the gateway", "gsv__WriteFile", entry + `}`, `{"type":"object","properties":{"ok":{"type":"boolean"},"result":` + entry + `},"error":{"type":"string"},` + fault + `},"required":["ok"]}`},
		{
			"of the gateway, without one", "gsv__Cron", ``,
			`{"type":"object","properties":{"ok":{"type":"boolean"},"result":{"description":"depends on the arguments"},"error":{"type":"string"},` + fault + `},"required":["ok"]}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := extraEntry(protocol.ToolSpec{Name: c.tool, InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(c.schema)})
			raw, err := json.Marshal(e.Out)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := protocol.Canonical(raw)
			want, err := protocol.Canonical(json.RawMessage(c.want))
			if err != nil || string(got) != string(want) {
				t.Errorf("got %s, want %s, %v", got, want, err)
			}
		})
	}
}
