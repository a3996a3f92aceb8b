package openai

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/llmtest"
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

func TestResponsesStreamIsCompleteOrFails(t *testing.T) {
	item := json.RawMessage(`{"encrypted_content":"blob","id":"rs_1","summary":[{"type":"summary_text","text":"First. "}],"type":"reasoning"}`)
	thought := protocol.Block{Type: protocol.BlockThinking, Thinking: "First. \n\nSecond.", Opaque: ask.Opaque(opaque{Origin: ask.Origin{Wire: wireResponses, Model: "m"}, Item: item})}
	streams(t, newResponses, responseCassette, strings.Index(responseCassette, `{"type":"response.completed"`), thought, map[int]string{0: `{"command": "ls"}`, 1: "{}"},
		protocol.Block{Type: protocol.BlockToolCall, ID: "a", Name: "laptop__Bash", Arguments: json.RawMessage(`{"command":"ls"}`)},
		protocol.Block{Type: protocol.BlockToolCall, ID: "b", Name: "laptop__Glob", Arguments: json.RawMessage("{}")})
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
			got := llmtest.Collect(t.Context(), newResponses(llm.Options{BaseURL: s.URL}), helloRequest())
			if got.Stop != tc.stop || !errors.Is(got.Err, tc.err) {
				t.Fatalf("stop %q: %v; want stop %q and error %v", got.Stop, got.Err, tc.stop, tc.err)
			}
			if tc.err != nil && !strings.Contains(got.Err.Error(), tc.says) {
				t.Errorf("got %v; want no error or %v in got.Err", got.Err, tc.says)
			}
		})
	}
}

func TestResponsesLeavesOutWhatTheModelRefuses(t *testing.T) {
	s := newServe(t,
		status(400, `{"error":{"message":"Encrypted content is not supported with this model.","param":"include"}}`),
		status(400, `{"error":{"message":"Unsupported parameter: 'reasoning.effort' is not supported with this model."}}`),
		events(responseStream(`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.completed","response":{}}`)))
	req := helloRequest()
	req.Thinking = "high"
	got := llmtest.Collect(t.Context(), newResponses(llm.Options{BaseURL: s.URL}), req)
	if got.Err != nil || got.Text != "a" || s.bodies[2]["include"] != nil || s.bodies[2]["reasoning"] != nil {
		t.Fatalf(`got %v, %v; want no got.Err, got.Text "a", no s.bodies[2]["include"] and no s.bodies[2]["reasoning"]`, got.Err, s.bodies)
	}
}

func TestResponsesMakesAnImage(t *testing.T) {
	s := newServe(t, events(responseStream(`{"type":"response.output_item.done","item":{"type":"image_generation_call","result":"QUJD","output_format":"webp"}}`, `{"type":"response.completed","response":{}}`)))
	got := llmtest.Collect(t.Context(), newResponses(llm.Options{BaseURL: s.URL}), helloRequest())
	if len(got.Images) != 1 || got.Images[0].MimeType != "image/webp" {
		t.Fatalf(`got %+v; want Images of length 1 and Images[0].MimeType "image/webp"`, got)
	}
}
