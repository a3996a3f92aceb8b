package gemini

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/sse"
	"fairlead/gateway/protocol"
)

// DefaultBaseURL is Google's own API.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// Options hold the address and the known properties of a model.
type Options = ask.Options

type model struct {
	Options
	think thinker
}

// New returns a model at o.BaseURL, by default [DefaultBaseURL].
func New(o Options) llm.Model { return newModel(o) }

func newModel(o Options) *model {
	m := &model{Options: o}
	m.Model = strings.TrimPrefix(o.Model, "models/")
	m.BaseURL = base(o.BaseURL)
	m.think.style = styleOf(m.Model)
	return m
}

// base completes an address as people write it, without the API's version.
func base(address string) string {
	if address == "" {
		return DefaultBaseURL
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	address = strings.TrimRight(address, "/")
	for _, path := range []string{"/models", "/openai", "/v1beta"} {
		address = strings.TrimSuffix(address, path)
	}
	return address
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	var thinking *thinkingConfig
	return ask.Stream(ctx, func(ctx context.Context, out *ask.Out) error {
		thinking = m.think.plan(req.Thinking, m.Info.Thinking)
		return m.try(ctx, req, thinking, out)
	}, func(f *ask.Failure) bool {
		return f.Status == http.StatusBadRequest && thinking != nil && m.think.learn(thinking, f.Reason)
	})
}

// try sends one request and reads its answer.
func (m *model) try(ctx context.Context, req llm.Request, thinking *thinkingConfig, out *ask.Out) error {
	n := newNames(req.Tools)
	body, err := protocol.Marshal(m.request(req, thinking, n))
	if err != nil {
		return err
	}
	resp, err := m.post(ctx, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	r := &reader{Out: out, model: m.Model, names: n}
	for events := sse.NewEvents(resp.Body); ; {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return r.end()
		}
		if err != nil {
			return ask.Unreachable(ctx, err)
		}
		var chunk response
		if err := ask.Decode(ev.Data, &chunk); err != nil {
			return err
		}
		if ask.IsError(chunk.Error) {
			return ask.StreamError(ev.Data)
		}
		if r.take(&chunk); r.Stopped() {
			return nil
		}
	}
}
