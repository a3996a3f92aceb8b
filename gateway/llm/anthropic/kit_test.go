package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

// event writes one event of the wire.
func event(data string) string {
	var e struct{ Type string }
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		panic(err)
	}
	return fmt.Sprintf("event: %s\ndata: %s\n\n", e.Type, data)
}

func events(list ...string) string {
	var b strings.Builder
	for _, data := range list {
		b.WriteString(event(data))
	}
	return b.String()
}

const (
	start = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":7,"cache_read_input_tokens":100,"output_tokens":1}}}`
	ping  = `{"type":"ping"}`
	stop  = `{"type":"message_stop"}`
)

func stopEvent(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":40,"output_tokens_details":{"thinking_tokens":12}}}`
}

// whole is thought, words and two calls, as Anthropic sends them.
var whole = events(start, ping,
	`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"läok 🚢."}}`,
	`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB="}}`,
	`{"type":"content_block_stop","index":0}`,
	`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"hidden=="}}`,
	`{"type":"content_block_stop","index":1}`,
	`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`,
	`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I will "}}`, ping,
	`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"look."}}`,
	`{"type":"content_block_stop","index":2}`,
	`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"laptop__Bash","input":{}}}`,
	`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}`,
	`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"command\": \"ls"}}`,
	`{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":" -la\"}"}}`,
	`{"type":"content_block_stop","index":3}`,
	`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"laptop__Glob","input":{}}}`,
	`{"type":"content_block_stop","index":4}`,
	stopEvent("tool_use"), stop)

func checkWhole(t *testing.T, a llmtest.Answer) {
	t.Helper()
	if a.Err != nil || a.Thinking != "Let me läok 🚢." || a.Text != "I will look." || a.Stop != llm.StopToolUse {
		t.Fatalf(`got %+v; want no Err, Thinking "Let me läok 🚢.", Text "I will look." and Stop StopToolUse`, a)
	}
	if len(a.Calls) != 2 || a.Calls[0].ID != "toolu_1" || string(a.Calls[0].Arguments) != `{"command":"ls -la"}` || string(a.Calls[1].Arguments) != "{}" {
		t.Fatalf("calls: got %+v; want length 2, Calls[0].ID \"toolu_1\", Calls[0].Arguments `{\"command\":\"ls -la\"}` and Calls[1].Arguments \"{}\"", a.Calls)
	}
	if a.Deltas[0] != `{"command": "ls -la"}` || len(a.Content) != 5 || a.Content[0].Signature != "EqQB=" || !a.Content[1].Redacted || a.Content[1].Signature != "hidden==" {
		t.Fatalf("content: got %+v; want Deltas[0] `{\"command\": \"ls -la\"}`, length 5, Content[0].Signature \"EqQB=\", Content[1].Redacted and Content[1].Signature \"hidden==\"", a.Content)
	}
	want := protocol.Usage{Input: 25, Output: 40, CacheRead: 100, CacheWrite: 7, Total: 172, Reasoning: 12}
	if a.Usage != want {
		t.Fatalf("usage: got %+v, want %+v", a.Usage, want)
	}
}

func user(text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}
}

var hello = llm.Request{Messages: []protocol.Message{user("hello")}}

func options(w *llmtest.Wire) llm.Options {
	return llm.Options{
		BaseURL: "http://model.test", Key: "sk-ant-secret", Model: "claude-opus-4-6", HTTP: w.Client(),
		Info: protocol.ModelInfo{MaxOutput: 64_000, Thinking: true, Images: true, Tools: true},
	}
}

func TestStreamIsCompleteOrFails(t *testing.T) {
	llmtest.Dialect{New: New, Options: options(llmtest.NewWire()), Request: hello, Whole: whole, Shown: strings.Index(whole, "event: message_delta")}.Test(t, checkWhole)
}

func TestErrorInsideAShownAnswerIsNotAskedAgain(t *testing.T) {
	w := llmtest.NewWire(llmtest.Reply{
		Body: whole[:strings.Index(whole, "event: message_delta")] + event(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
	})
	if a := llmtest.Collect(t.Context(), New(options(w)), hello); !errors.Is(a.Err, protocol.ErrModel) || len(w.Asked()) != 1 || a.Stop != "" || w.Open() != 0 {
		t.Errorf("got %v, %d requests, stop %q; want a model error after 1, and no stop", a.Err, len(w.Asked()), a.Stop)
	}
}
