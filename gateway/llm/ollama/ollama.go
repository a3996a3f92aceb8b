package ollama

import (
	"bytes"
	"context"
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

// Options hold the address and the known properties of a model.
type Options = ask.Options

type model struct {
	Options
	noThink atomic.Bool // the model has refused the setting of thinking
	noTools atomic.Bool
}

// New returns a model of the Ollama server at o.BaseURL, by default http://127.0.0.1:11434. Its
// context window is o.Info.ContextWindow, or 16,384 if that is unknown.
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
	for _, path := range []string{"/v1", "/api"} { // people paste the address of the other API
		m.BaseURL = strings.TrimSuffix(m.BaseURL, path)
	}
	return m
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return ask.Stream(ctx, func(ctx context.Context, out *ask.Out) error {
		return m.try(ctx, m.request(req), &reader{Out: out})
	}, func(f *ask.Failure) bool {
		refuses := func(what string, known *atomic.Bool) bool {
			return strings.Contains(f.Reason, "does not support "+what) && known.CompareAndSwap(false, true)
		}
		return f.Status == http.StatusBadRequest && (refuses("thinking", &m.noThink) || refuses("tools", &m.noTools))
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
	if err == nil || r.Stopped() || errors.As(err, &known) {
		return err
	}
	return ask.Unreachable(ctx, err)
}

// send returns a response with status 200; the caller closes its body.
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
	if m.Key != "" { // for Ollama's own cloud, or a proxy before the server
		req.Header.Set("Authorization", "Bearer "+m.Key)
	}
	for k, v := range m.Headers {
		req.Header.Set(k, v)
	}
	resp, err := m.Client().Do(req)
	if err != nil {
		return nil, ask.Unreachable(ctx, err)
	}
	return ask.CheckStatus(resp, nil)
}

// call sends a request and decodes its single JSON object.
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
