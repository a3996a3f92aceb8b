// Package ollama implements Ollama's own API: POST /api/chat with one JSON object per line, GET
// /api/tags, POST /api/show. Its OpenAI-compatible endpoint would be enough for text, but does not
// accept num_ctx, and Ollama's default context is too short for tools.
package ollama

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"iter"
	"net/http"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

type model struct {
	llm.Options
	refused ask.Refusals // "thinking", "tools"
}

// New returns a model of the Ollama server at o.BaseURL, by default http://127.0.0.1:11434. Its
// context window is o.Info.ContextWindow, or 16,384 if that is unknown.
func New(o llm.Options) llm.Model { return newModel(o) }

func newModel(o llm.Options) *model {
	// People paste the address of the other API.
	o.BaseURL = ask.BaseURL(o.BaseURL, "http://127.0.0.1:11434", "/v1", "/api")
	return &model{Options: o}
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return ask.Stream(ctx, func(ctx context.Context, out *ask.Out) error {
		resp, err := ask.Send(ctx, m.Options, m.httpRequest("/api/chat", m.request(req)))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		r := &reader{Out: out}
		return r.read(ask.Lines(ctx, resp))
	}, func(f *ask.Failure) bool {
		refuses := func(what string) bool {
			return strings.Contains(f.Reason, "does not support "+what) && m.refused.Add(what)
		}
		return f.Status == http.StatusBadRequest && (refuses("thinking") || refuses("tools"))
	})
}

// httpRequest returns a request with the key; body is nil for a GET.
func (m *model) httpRequest(path string, body any) ask.Request {
	r := ask.Request{URL: m.BaseURL + path, Body: body}
	if m.Key != "" { // for Ollama's own cloud, or a proxy before the server
		r.Header = map[string]string{"Authorization": "Bearer " + m.Key}
	}
	return r
}

// call sends a request and decodes its single JSON object.
func (m *model) call(ctx context.Context, path string, body, into any) error {
	data, err := ask.Read(ctx, m.Options, m.httpRequest(path, body))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return ask.Broken("the answer to " + path + " cannot be read: " + err.Error())
	}
	return nil
}

// reader converts lines to events.
type reader struct {
	*ask.Out
	calls        int
	thinking     strings.Builder
	thoughtEnded bool // the finished thought was emitted
}

// line is one object of the stream.
type line struct {
	Message    message         `json:"message"`
	Done       bool            `json:"done"`
	DoneReason string          `json:"done_reason"`
	Prompt     int64           `json:"prompt_eval_count"`
	Output     int64           `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

func (r *reader) read(list iter.Seq2[[]byte, error]) error {
	for data, err := range list {
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		var l line
		if err := ask.Decode(data, &l); err != nil {
			return err
		}
		if ask.IsError(l.Error) {
			return ask.StreamError(data)
		}
		r.message(l.Message)
		if l.Done {
			r.end(l)
			return nil
		}
		if r.IsStopped() {
			return nil
		}
	}
	return ask.Broken("the connection closed before the answer was complete")
}

func (r *reader) message(m message) {
	r.thinking.WriteString(m.Thinking)
	r.Text(llm.EventThinking, m.Thinking)
	if m.Content != "" || len(m.Calls) > 0 {
		r.endThought()
	}
	r.Text(llm.EventText, m.Content)
	for _, c := range m.Calls {
		r.call(c)
	}
	for _, data := range m.Images {
		r.Emit(llm.Event{Type: llm.EventImage, Block: protocol.Block{Type: protocol.BlockImage, MimeType: "image/png", Data: data}})
	}
}

// endThought emits the finished thought once.
func (r *reader) endThought() {
	if !r.thoughtEnded && r.thinking.Len() > 0 {
		r.thoughtEnded = true
		r.Emit(llm.Event{Type: llm.EventSignature, Block: protocol.Block{Type: protocol.BlockThinking, Thinking: r.thinking.String()}})
	}
}

// call emits a call, which this API sends in one piece, often without an ID.
func (r *reader) call(c call) {
	id := cmp.Or(c.ID, "call_"+rand.Text()[:16])
	r.WholeCall(r.calls, protocol.Block{Type: protocol.BlockToolCall, ID: id, Name: c.Function.Name}, string(c.Function.Arguments))
	r.calls++
}

func (r *reader) end(l line) {
	r.endThought()
	r.Emit(llm.Event{Type: llm.EventUsage, Usage: protocol.Usage{Input: l.Prompt, Output: l.Output, Total: l.Prompt + l.Output}})
	stop := llm.StopEnd
	switch {
	case l.DoneReason == "length":
		stop = llm.StopMaxTokens
	case r.calls > 0:
		stop = llm.StopToolUse
	}
	r.Emit(llm.Event{Type: llm.EventStop, Stop: stop})
}
