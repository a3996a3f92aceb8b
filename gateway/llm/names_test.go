package llm_test

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// caller calls the first tool that it is offered, and keeps the request.
type caller struct{ got llm.Request }

func (c *caller) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	c.got = req
	return func(yield func(llm.Event, error) bool) {
		_ = yield(llm.Event{Type: llm.EventCall, Block: protocol.Block{Type: protocol.BlockToolCall, ID: "1", Name: req.Tools[0].Name}}, nil)
	}
}

func TestAModelSeesNamesThatFitAndCallsByTheRealOnes(t *testing.T) {
	t.Parallel()
	const odd, plain = "node-mac.local__Bash", "laptop__Bash"
	seen := string(protocol.ToolName(odd).ForModel())
	history := func(name string) []protocol.Message {
		return []protocol.Message{
			{Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text("see node-mac.local__Bash"), {Type: protocol.BlockToolCall, ID: "0", Name: name}}},
			{Role: protocol.RoleToolResult, ToolCallID: "0", ToolName: protocol.ToolName(name), Content: protocol.Content{protocol.Text("x")}},
		}
	}
	req := llm.Request{Tools: []llm.Tool{{Name: odd}, {Name: plain}}, Messages: history(odd)}
	model := new(caller)
	var called string
	for e, err := range llm.FitNames(model).Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		called = e.Block.Name
	}
	if called != odd {
		t.Errorf("got a call of %q, want %q", called, odd)
	}
	if want := []llm.Tool{{Name: seen}, {Name: plain}}; !reflect.DeepEqual(model.got.Tools, want) {
		t.Errorf("the model was offered %+v, want %+v", model.got.Tools, want)
	}
	if want := history(seen); !reflect.DeepEqual(model.got.Messages, want) {
		t.Errorf("the model got the conversation %+v, want %+v", model.got.Messages, want)
	}
	if !slices.Equal([]string{req.Tools[0].Name, req.Messages[0].Content[1].Name, string(req.Messages[1].ToolName)}, []string{odd, odd, odd}) {
		t.Errorf("the caller's request was changed: %+v", req)
	}
}

func TestOfEqualToolsAModelGetsTheFirst(t *testing.T) {
	t.Parallel()
	model := new(caller)
	req := llm.Request{Tools: []llm.Tool{{Name: "a__x", Description: "first"}, {Name: "b__x"}, {Name: "a__x", Description: "second"}}}
	for _, err := range llm.FitNames(model).Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := req.Tools[:2]; !reflect.DeepEqual(model.got.Tools, want) {
		t.Errorf("the model was offered %+v, want %+v", model.got.Tools, want)
	}
}
