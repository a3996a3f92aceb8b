package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// responseStream makes a stream the way OpenAI does: each event with its name, no [DONE].
func responseStream(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		var e struct{ Type string }
		if err := json.Unmarshal([]byte(c), &e); err != nil {
			panic(err)
		}
		b.WriteString("event: " + e.Type + "\ndata: " + c + "\n\n")
	}
	return b.String()
}

var responseCassette = responseStream(
	`{"type":"response.created","response":{"status":"in_progress"}}`,
	`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}`,
	`{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0}`,
	`{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"First. "}`,
	`{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1}`,
	`{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Second."}`,
	`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","status":"completed","summary":[{"type":"summary_text","text":"First. "}],"encrypted_content":"blob"}}`,
	`{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"I will"}`,
	`{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":" look."}`,
	`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","content":[{"type":"output_text","text":"I will look."}]}}`,
	`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"a","name":"laptop__Bash","arguments":""}}`,
	`{"type":"response.output_item.added","output_index":3,"item":{"type":"function_call","id":"fc_2","call_id":"b","name":"laptop__Glob","arguments":""}}`,
	`{"type":"response.function_call_arguments.delta","output_index":3,"item_id":"fc_2","delta":"{}"}`,
	`{"type":"response.function_call_arguments.delta","output_index":2,"item_id":"fc_1","delta":"{\"command\":"}`,
	`{"type":"response.function_call_arguments.delta","output_index":2,"item_id":"fc_1","delta":" \"ls\"}"}`,
	`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"a","name":"laptop__Bash","arguments":"{\"command\": \"ls\"}"}}`,
	`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":100,"output_tokens":20,"input_tokens_details":{"cached_tokens":90},"output_tokens_details":{"reasoning_tokens":5}}}}`,
)

func TestResponsesStreamIsTheSameHoweverItIsCut(t *testing.T) {
	want := outcome{
		text: "I will look.", thinking: "First. \n\nSecond.", stop: llm.StopToolUse, bad: []string{"", ""},
		deltas: map[int]string{0: `{"command": "ls"}`, 1: "{}"},
		usage:  protocol.Usage{Input: 10, Output: 20, CacheRead: 90, Total: 120, Reasoning: 5},
	}
	want.calls = []protocol.Block{
		{Type: protocol.BlockToolCall, ID: "a", Name: "laptop__Bash", Arguments: json.RawMessage(`{"command":"ls"}`)},
		{Type: protocol.BlockToolCall, ID: "b", Name: "laptop__Glob", Arguments: json.RawMessage("{}")},
	}
	item := json.RawMessage(`{"encrypted_content":"blob","id":"rs_1","summary":[{"type":"summary_text","text":"First. "}],"type":"reasoning"}`)
	thought := protocol.Block{Type: protocol.BlockThinking, Thinking: want.thinking, Opaque: opaque{Wire: wireResponses, Model: "m", Item: item}.raw()}
	want.content = append(protocol.Content{thought, protocol.Text(want.text)}, want.calls...)
	for cut := range len(responseCassette) {
		m := NewResponses(Options{BaseURL: "http://model", Model: "m", HTTP: &http.Client{Transport: pieces{responseCassette[:cut], responseCassette[cut:]}}})
		if got := collect(t.Context(), m, hi()); !reflect.DeepEqual(got, want) {
			t.Fatalf("cut at %d:\ngot  %+v\nwant %+v", cut, got, want)
		}
	}
}

func TestResponsesEndInSeveralWays(t *testing.T) {
	text := `{"type":"response.output_text.delta","delta":"half"}`
	for name, tc := range map[string]struct {
		stream string
		stop   string
		err    error
		says   string
	}{
		"cut by the limit":  {responseStream(text, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`), llm.StopMaxTokens, nil, ""},
		"cut by a filter":   {responseStream(text, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`), llm.StopRefusal, nil, ""},
		"refused":           {responseStream(`{"type":"response.refusal.delta","delta":"No."}`, `{"type":"response.completed","response":{}}`), llm.StopRefusal, nil, ""},
		"failed":            {responseStream(text, `{"type":"response.failed","response":{"error":{"code":"server_error","message":"We broke."}}}`), "", protocol.ErrModel, "We broke."},
		"failed for length": {responseStream(`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window"}}}`), "", protocol.ErrContextOverflow, "context window"},
		"an error event":    {responseStream(text, `{"type":"error","code":"rate_limit_exceeded","message":"Slow down."}`), "", protocol.ErrModelRateLimit, "Slow down."},
		"closed too early":  {responseStream(text), "", protocol.ErrModel, "before the answer was complete"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServe(t, events(tc.stream))
			got := collect(t.Context(), NewResponses(Options{BaseURL: s.URL}), hi())
			if got.stop != tc.stop || !errors.Is(got.err, tc.err) {
				t.Fatalf("stop %q: %v", got.stop, got.err)
			}
			if tc.err != nil && !strings.Contains(got.err.Error(), tc.says) {
				t.Error(got.err)
			}
		})
	}
}

func TestResponsesLeavesOutWhatTheModelRefuses(t *testing.T) {
	s := newServe(t,
		status(400, `{"error":{"message":"Encrypted content is not supported with this model.","param":"include"}}`),
		status(400, `{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model."}}`),
		events(responseStream(`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.completed","response":{}}`)))
	req := hi()
	req.Thinking = "high"
	got := collect(t.Context(), NewResponses(Options{BaseURL: s.URL}), req)
	if got.err != nil || got.text != "a" || s.bodies[2]["include"] != nil || s.bodies[2]["reasoning"] != nil {
		t.Fatal(got.err, s.bodies)
	}
}

func TestResponsesMakesAnImage(t *testing.T) {
	s := newServe(t, events(responseStream(`{"type":"response.output_item.done","item":{"type":"image_generation_call","result":"QUJD","output_format":"webp"}}`, `{"type":"response.completed","response":{}}`)))
	got := collect(t.Context(), NewResponses(Options{BaseURL: s.URL}), hi())
	if len(got.images) != 1 || got.images[0].MimeType != "image/webp" {
		t.Fatalf("%+v", got)
	}
}
