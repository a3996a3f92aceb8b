package tool

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/gateway/protocol"
)

func TestQuestionNamesTheArgumentsOfAServersTool(t *testing.T) {
	spec := protocol.ToolSpec{
		Server: "files", ServerTool: "write.file", Title: "Write a file", Description: "Writes.",
		InputSchema: json.RawMessage(`{"properties": {"path": {"description": "where\nto"}, "mode": true}}`),
	}
	got := describeServerTool(spec, json.RawMessage(`{"path": "a \"b\"", "mode": null, "n": 1e3, "list": [1, "x"]}`))
	want := &protocol.QuestionTool{Server: "files", Name: "write.file", Title: "Write a file", Description: "Writes.", Arguments: []protocol.QuestionArgument{
		{Name: "path", Description: "where to", Value: `a "b"`}, {Name: "mode", Value: "null"}, {Name: "n", Value: "1e3"}, {Name: "list", Value: `[1,"x"]`},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	for _, args := range []string{``, `null`, `[]`, `{"a"`} {
		if got := describeServerTool(spec, json.RawMessage(args)); len(got.Arguments) != 0 {
			t.Errorf("arguments of %s: got %+v, want none", args, got.Arguments)
		}
	}
}
