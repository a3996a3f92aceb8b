//go:build unix

package servers_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// reply is an answer of the scripted model: text, or a call.
type reply struct{ text, tool, args string }

// scriptedModel is a model provider with the API of OpenAI that plays a script.
type scriptedModel struct {
	url string

	mu       sync.Mutex // guards the fields below
	script   []reply
	requests []map[string]any
}

func newScriptedModel(t *testing.T) *scriptedModel {
	m := &scriptedModel{}
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	m.url = s.URL
	return m
}

func (m *scriptedModel) add(list ...reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script = append(m.script, list...)
}

// last returns the last request.
func (m *scriptedModel) last() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		return ""
	}
	raw, _ := json.Marshal(m.requests[len(m.requests)-1])
	return string(raw)
}

func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		fmt.Fprint(w, `{"data": [{"id": "scripted"}]}`)
		return
	}
	raw, _ := io.ReadAll(r.Body)
	var body map[string]any
	json.Unmarshal(raw, &body)
	m.mu.Lock()
	m.requests = append(m.requests, body)
	next := reply{text: "the script is over"}
	if len(m.script) > 0 {
		next, m.script = m.script[0], m.script[1:]
	}
	id := fmt.Sprintf("call_%d", len(m.requests))
	m.mu.Unlock()
	delta, finish := map[string]any{"role": "assistant", "content": next.text}, "stop"
	if next.tool != "" {
		finish = "tool_calls"
		delta = map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
			"index": 0, "id": id, "type": "function", "function": map[string]any{"name": next.tool, "arguments": next.args},
		}}}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []map[string]any{{"index": 0, "delta": delta}, {"index": 0, "delta": map[string]any{}, "finish_reason": finish}} {
		part, _ := json.Marshal(map[string]any{"id": "x", "object": "chat.completion.chunk", "choices": []any{choice}})
		fmt.Fprintf(w, "data: %s\n\n", part)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
