package ollama

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/sse"
	"fairlead/gateway/protocol"
)

// Options say where a model is and what is known of it.
type Options = ask.Options

type model struct {
	Options
	noThink atomic.Bool // the model has refused to be asked about thinking
	noTools atomic.Bool
}

// New returns a model of the Ollama server at o.BaseURL, by default http://127.0.0.1:11434. The context window that it runs
// with is o.Info.ContextWindow, or 16,384 when that is unknown.
func New(o Options) llm.Model { return newModel(o) }

func newModel(o Options) *model {
	m := &model{Options: o}
	if m.BaseURL == "" {
		m.BaseURL = "http://127.0.0.1:11434"
	}
	if !strings.Contains(m.BaseURL, "://") {
		m.BaseURL = "http://" + m.BaseURL
	}
	m.BaseURL = strings.TrimRight(m.BaseURL, "/")
	for _, path := range []string{"/v1", "/api"} { // people paste the address of the other wire
		m.BaseURL = strings.TrimSuffix(m.BaseURL, path)
	}
	return m
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		r := &reader{yield: yield}
		if err := m.answer(ctx, req, r); err != nil && !r.stopped {
			yield(llm.Event{}, err)
		}
	}
}

// answer asks until an answer begins, and reads it. Nothing is asked again once a part of an answer has been shown.
func (m *model) answer(ctx context.Context, req llm.Request, r *reader) error {
	return ask.Retry(ctx, r.emit, func() error {
		for {
			err := m.try(ctx, m.request(req), r)
			var f *ask.Failure
			switch {
			case err == nil || r.stopped:
				return nil
			case !errors.As(err, &f):
				return err
			case r.shown:
				f.Again = false
			case f.Status == http.StatusBadRequest && strings.Contains(f.Reason, "does not support thinking") && m.noThink.CompareAndSwap(false, true):
				continue
			case f.Status == http.StatusBadRequest && strings.Contains(f.Reason, "does not support tools") && m.noTools.CompareAndSwap(false, true):
				continue
			}
			return f
		}
	})
}

func (m *model) try(ctx context.Context, body request, r *reader) error {
	resp, err := m.send(ctx, http.MethodPost, "/api/chat", body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	err = r.read(resp.Body)
	var known *protocol.Error
	if err == nil || r.stopped || errors.As(err, &known) {
		return err
	}
	return ask.Unreachable(ctx, err)
}

// send returns a 200, whose body is for the caller to close.
func (m *model) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var payload io.Reader
	if body != nil {
		data, err := protocol.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("build request: %w", err)
		}
		payload = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, m.BaseURL+path, payload)
	if err != nil {
		return nil, protocol.ErrModel.With("The address of the model server is wrong: " + err.Error())
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if m.Key != "" { // Ollama's own cloud, or a proxy before the server
		req.Header.Set("Authorization", "Bearer "+m.Key)
	}
	for k, v := range m.Headers {
		req.Header.Set(k, v)
	}
	resp, err := m.Client().Do(req)
	if err != nil {
		return nil, ask.Unreachable(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, ask.Refused(resp)
	}
	return resp, nil
}

// call sends a request and reads its one JSON object.
func (m *model) call(ctx context.Context, method, path string, body, into any) error {
	resp, err := m.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, sse.MaxLine)).Decode(into); err != nil {
		return ask.Broken("the answer to " + path + " cannot be read: " + err.Error())
	}
	return nil
}

// reader turns lines into events.
type reader struct {
	yield    func(llm.Event, error) bool
	stopped  bool // the receiver has broken out of its loop
	shown    bool
	calls    int
	thinking strings.Builder
	told     bool // the finished thought is out
}

func (r *reader) emit(ev llm.Event) bool {
	if r.stopped {
		return false
	}
	if ev.Type != llm.EventRetry {
		r.shown = true
	}
	r.stopped = !r.yield(ev, nil)
	return !r.stopped
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

func (r *reader) read(body io.Reader) error {
	for lines := sse.NewLines(body); ; {
		data, err := lines.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return ask.Broken("the connection closed before the answer was complete")
		}
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		var l line
		if err := json.Unmarshal(data, &l); err != nil {
			return ask.Broken("the server sent a line that cannot be read: " + err.Error())
		}
		if len(l.Error) > 0 && string(l.Error) != "null" {
			return ask.StreamError(data)
		}
		r.piece(l.Message)
		if l.Done {
			r.end(l)
			return nil
		}
		if r.stopped {
			return nil
		}
	}
}

func (r *reader) piece(m message) {
	if m.Thinking != "" {
		r.thinking.WriteString(m.Thinking)
		r.emit(llm.Event{Type: llm.EventThinking, Text: m.Thinking})
	}
	if m.Content != "" {
		r.thought()
		r.emit(llm.Event{Type: llm.EventText, Text: m.Content})
	}
	for _, c := range m.Calls {
		r.thought()
		r.call(c)
	}
	for _, data := range m.Images {
		r.emit(llm.Event{Type: llm.EventImage, Block: protocol.Block{Type: protocol.BlockImage, MimeType: "image/png", Data: data}})
	}
}

// thought tells the finished thought once.
func (r *reader) thought() {
	if !r.told && r.thinking.Len() > 0 {
		r.told = true
		r.emit(llm.Event{Type: llm.EventSignature, Block: protocol.Block{Type: protocol.BlockThinking, Thinking: r.thinking.String()}})
	}
}

// call gives out a call, which comes in one piece on this wire, often without an id.
func (r *reader) call(c call) {
	if c.ID == "" {
		c.ID = "call_" + rand.Text()[:16]
	}
	i := r.calls
	r.calls++
	block := protocol.Block{Type: protocol.BlockToolCall, ID: c.ID, Name: c.Function.Name}
	r.emit(llm.Event{Type: llm.EventCallStart, Index: i, Block: block})
	args := bytes.TrimSpace(c.Function.Arguments)
	r.emit(llm.Event{Type: llm.EventCallDelta, Index: i, Text: string(args)})
	ev := llm.Event{Type: llm.EventCall, Index: i, Block: block}
	var object map[string]json.RawMessage
	switch {
	case len(args) == 0 || string(args) == "null":
		ev.Block.Arguments = json.RawMessage("{}")
	case json.Unmarshal(args, &object) == nil:
		ev.Block.Arguments = append(json.RawMessage(nil), args...)
	default:
		ev.Block.Arguments, ev.BadArgs = json.RawMessage("{}"), string(args)
	}
	r.emit(ev)
}

func (r *reader) end(l line) {
	r.thought()
	r.emit(llm.Event{Type: llm.EventUsage, Usage: protocol.Usage{Input: l.Prompt, Output: l.Output, Total: l.Prompt + l.Output}})
	stop := llm.StopEnd
	switch {
	case l.DoneReason == "length":
		stop = llm.StopMaxTokens
	case r.calls > 0:
		stop = llm.StopToolUse
	}
	r.emit(llm.Event{Type: llm.EventStop, Stop: stop})
}
