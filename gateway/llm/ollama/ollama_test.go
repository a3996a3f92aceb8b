package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func user(text string) protocol.Message {
	return protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}
}

func helloRequest() llm.Request { return llm.Request{Messages: []protocol.Message{user("hi")}} }

const cassette = `{"model":"qwen3","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"Let me "},"done":false}
{"message":{"role":"assistant","content":"","thinking":"lóok."},"done":false}
{"message":{"role":"assistant","content":"I will"},"done":false}
{"message":{"role":"assistant","content":" look."},"done":false}
{"message":{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"index":0,"name":"laptop__Bash","arguments":{"command":"ls"}}}]},"done":false}
{"message":{"role":"assistant","content":"","tool_calls":[{"id":"b","function":{"index":1,"name":"laptop__Glob","arguments":null}}]},"done":false}
{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":5,"prompt_eval_count":100,"eval_count":20}
`

func TestStreamIsCompleteOrFails(t *testing.T) {
	calls := []protocol.Block{
		{Type: protocol.BlockToolCall, ID: "a", Name: "laptop__Bash", Arguments: json.RawMessage(`{"command":"ls"}`)},
		{Type: protocol.BlockToolCall, ID: "b", Name: "laptop__Glob", Arguments: json.RawMessage("{}")},
	}
	want := llmtest.Answer{
		Text: "I will look.", Thinking: "Let me lóok.", Stop: llm.StopToolUse, BadArgs: []string{"", ""}, Calls: calls,
		Content: append(protocol.Content{{Type: protocol.BlockThinking, Thinking: "Let me lóok."}, protocol.Text("I will look.")}, calls...),
		Deltas:  map[int]string{0: `{"command":"ls"}`, 1: "null"},
		Usage:   protocol.Usage{Input: 100, Output: 20, Total: 120},
	}
	llmtest.Dialect{New: New, Request: helloRequest(), Whole: cassette, Shown: strings.Index(cassette, `{"message":{"role":"assistant","content":"","tool_calls"`)}.Test(t,
		func(t *testing.T, got llmtest.Answer) {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("differs (-want +got):\n%s", diff)
			}
		})
}

func TestRequestHoldsTheConversation(t *testing.T) {
	image := protocol.Block{Type: protocol.BlockImage, MimeType: "image/png", Data: "QUJD"}
	thought := protocol.Block{Type: protocol.BlockThinking, Thinking: "hm"}
	call := protocol.Block{Type: protocol.BlockToolCall, ID: "a", Name: "laptop__Read", Arguments: json.RawMessage(`{"path":"x"}`)}
	m := newModel(llm.Options{Model: "qwen3", Info: protocol.ModelInfo{ContextWindow: 8192}})
	raw, err := protocol.Marshal(m.request(llm.Request{
		System: "Be kind.", MaxTokens: 99, Thinking: "high",
		Messages: []protocol.Message{
			user("before"),
			{Role: protocol.RoleAssistant, Content: protocol.Content{thought, protocol.Text("past")}},
			{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("look"), image}},
			{Role: protocol.RoleAssistant, Content: protocol.Content{thought, call}},
			{Role: protocol.RoleToolResult, ToolCallID: "a", ToolName: "laptop__Read", Content: protocol.Content{image}},
			{Role: protocol.RoleAssistant},
		},
		Tools: []llm.Tool{{Name: "laptop__Read", Description: "Reads."}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{"model":"qwen3","stream":true,"think":true,"truncate":false,"keep_alive":"30m","options":{"num_ctx":8192,"num_predict":99},
		"tools":[{"type":"function","function":{"name":"laptop__Read","description":"Reads.","parameters":{"type":"object","properties":{}}}}],
		"messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"before"},{"role":"assistant","content":"past"},
		{"role":"user","content":"look","images":["QUJD"]},
		{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"a","function":{"name":"laptop__Read","arguments":{"path":"x"}}}]},
		{"role":"tool","content":"","images":["QUJD"],"tool_name":"laptop__Read","tool_call_id":"a"}]}`), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %s, want %v", raw, want)
	}
}

func TestLevelsOfThinkingAreTranslated(t *testing.T) {
	for _, tc := range []struct {
		model, level string
		want         any
	}{
		{"qwen3", "", nil},
		{"qwen3", "none", false},
		{"qwen3", "low", true},
		{"gpt-oss:20b", "", nil},
		{"gpt-oss:20b", "none", "low"},
		{"gpt-oss:20b", "medium", "medium"},
		{"gpt-oss:20b", "xhigh", "high"},
	} {
		if got := newModel(llm.Options{Model: tc.model}).think(tc.level); got != tc.want {
			t.Errorf("%s %q: got %v, want %v", tc.model, tc.level, got, tc.want)
		}
	}
}

func TestModelThatCannotThinkIsNotAskedAgain(t *testing.T) {
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if _, ok := body["think"]; ok {
			asked++
			w.WriteHeader(400)
			io.WriteString(w, `{"error":"\"llama3\" does not support thinking"}`)
			return
		}
		io.WriteString(w, `{"message":{"content":"a"},"done":true}`)
	}))
	defer s.Close()
	m := New(llm.Options{BaseURL: s.URL + "/v1", Model: "llama3"})
	req := helloRequest()
	req.Thinking = "high"
	for range 2 {
		if got := llmtest.Collect(t.Context(), m, req); got.Err != nil || got.Text != "a" {
			t.Fatalf(`got %v; want no Err and Text "a"`, got.Err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times, want 1", asked)
	}
}

func TestFailuresAreDistinguished(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		want   error
		says   string
	}{
		{404, `{"error":"model 'x' not found"}`, protocol.ErrModel, "model 'x' not found"},
		{400, `{"error":"the input length exceeds the context length"}`, protocol.ErrContextOverflow, "exceeds"},
		{401, `{"error":"unauthorized"}`, protocol.ErrModelAuth, "unauthorized"},
		{200, `{"message":{"content":"half"}}` + "\n" + `{"error":"model runner has unexpectedly stopped"}`, protocol.ErrModel, "unexpectedly stopped"},
		{200, `{"message":{"content":"half"}}` + "\nnonsense\n", protocol.ErrModel, "cannot be parsed"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tc.status)
			io.WriteString(w, tc.body)
		}))
		got := llmtest.Collect(t.Context(), New(llm.Options{BaseURL: s.URL, Model: "x"}), helloRequest())
		s.Close()
		if !errors.Is(got.Err, tc.want) || !strings.Contains(got.Err.Error(), tc.says) || len(got.Retries) > 0 {
			t.Errorf("%s: %v, %d retries; want the error, %v in got.Err and no got.Retries", tc.body, got.Err, len(got.Retries), tc.says)
		}
	}
}

func TestModelsAreListedWithTheirAbilities(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"models":[{"name":"big","model":"big"},{"name":"embedder"},{"name":"seen"},{"name":"broken"}]}`)
	})
	mux.HandleFunc("GET /api/ps", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"models":[{"name":"seen","context_length":4096}]}`)
	})
	mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		switch body.Model {
		case "big":
			io.WriteString(w, `{"capabilities":["completion","tools","thinking"],"model_info":{"general.architecture":"qwen3","qwen3.context_length":262144}}`)
		case "seen":
			io.WriteString(w, `{"capabilities":["completion","vision"],"model_info":{"llama.context_length":131072}}`)
		case "embedder":
			io.WriteString(w, `{"capabilities":["embedding"]}`)
		default:
			http.Error(w, "no", 500)
		}
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	got, err := Models(t.Context(), llm.Options{BaseURL: s.URL})
	want := []protocol.ModelInfo{
		{ID: "seen", ContextWindow: 4096, Images: true}, {ID: "big", ContextWindow: 32768, Tools: true, Thinking: true}, {ID: "broken", Tools: true},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v; want no error and %v", got, err, want)
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(cassette))
	f.Add([]byte(`{"error":{}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		stops := 0
		r := &reader{Out: ask.To(func(ev llm.Event, _ error) bool {
			if ev.Type == llm.EventStop {
				stops++
			}
			return true
		})}
		if err := r.read(ask.Lines(t.Context(), &http.Response{Body: io.NopCloser(bytes.NewReader(in))})); (err == nil) != (stops == 1) {
			t.Fatalf("%d stops and %v", stops, err)
		}
	})
}
