package gemini

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"

	"google.golang.org/genai"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// DefaultBaseURL is Google's own API.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

// Options say where a model is and what is known of it.
type Options = ask.Options

type model struct {
	Options
	client func() (*genai.Client, error) // made at the first request
	think  thinker
}

// New returns a model at o.BaseURL, by default [DefaultBaseURL].
func New(o Options) llm.Model { return newModel(o) }

func newModel(o Options) *model {
	m := &model{Options: o}
	m.Model = strings.TrimPrefix(o.Model, "models/")
	m.BaseURL = base(o.BaseURL)
	m.think.style = styleOf(m.Model)
	m.client = sync.OnceValues(m.connect)
	return m
}

// connect fills in all that the SDK would otherwise look for in the environment.
func (m *model) connect() (*genai.Client, error) {
	key := m.Key
	if key == "" {
		if m.BaseURL == DefaultBaseURL {
			return nil, protocol.ErrModelAuth.With("Google Gemini needs a key. Paste one in Settings.")
		}
		key = "none" // a server of one's own may not ask for any
	}
	c, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPClient: ask.Guard(m.Options, refine),
		HTTPOptions: genai.HTTPOptions{BaseURL: m.BaseURL + "/"},
	})
	if err != nil {
		return nil, protocol.ErrModel.With("The settings of Google Gemini do not work.") // the SDK's sentence repeats the key
	}
	return c, nil
}

// base completes an address as people write it. The SDK adds /v1beta itself.
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
	var thinking *genai.ThinkingConfig
	return ask.Stream(ctx, func(ctx context.Context, out *ask.Out) error {
		thinking = m.think.plan(req.Thinking, m.Info.Thinking)
		return m.try(ctx, req, thinking, out)
	}, func(f *ask.Failure) bool {
		return f.Status == http.StatusBadRequest && thinking != nil && m.think.learn(thinking, f.Reason)
	})
}

func (m *model) try(ctx context.Context, req llm.Request, thinking *genai.ThinkingConfig, out *ask.Out) error {
	client, err := m.client()
	if err != nil {
		return err
	}
	ctx, watch := ask.Watched(ctx)
	n := newNames(req.Tools)
	r := &reader{Out: out, model: m.Model, names: n}
	next, stop := iter.Pull2(client.Models.GenerateContentStream(ctx, m.Model, m.contents(req.Messages, n), m.config(req, thinking, n)))
	defer stop()
	for {
		chunk, err, ok := pull(next)
		switch {
		case watch.Err() != nil:
			return watch.Err()
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return failure(err)
		case !ok:
			return r.end()
		}
		if r.take(chunk); r.Stopped() {
			return nil
		}
	}
}

// pull reads the next chunk. The SDK panics over JSON that is not shaped as it expects.
func pull(next func() (*genai.GenerateContentResponse, error, bool)) (chunk *genai.GenerateContentResponse, err error, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			chunk, err, ok = nil, fmt.Errorf("unexpected form: %v", p), true
		}
	}()
	return next()
}

// failure reads an error that came inside an answer.
func failure(err error) error {
	var said genai.APIError
	if !errors.As(err, &said) {
		return ask.Broken("the answer cannot be understood: " + err.Error())
	}
	if said.Code < 400 {
		said.Code = http.StatusInternalServerError
	}
	return ask.Classify(said.Code, said.Message)
}
