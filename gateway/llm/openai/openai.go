package openai

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// Options hold the address and the known properties of a model.
type Options = ask.Options

// Hosts that get parameters which others would refuse.
const (
	hostOpenAI     = "api.openai.com"
	hostOpenRouter = "openrouter.ai"
	hostMistral    = "api.mistral.ai"
)

// New returns a model of the server at o.BaseURL: with the responses API at api.openai.com, with
// chat completions elsewhere. An address without a path gets /v1; empty means OpenAI itself.
func New(o Options) llm.Model {
	m := newModel(o)
	if m.host == hostOpenAI {
		m.wire = responsesWire{}
	}
	return m
}

// NewChat is [New] with the chat completions API for every server.
func NewChat(o Options) llm.Model { return newModel(o) }

// NewResponses is [New] with the responses API for every server.
func NewResponses(o Options) llm.Model {
	m := newModel(o)
	m.wire = responsesWire{}
	return m
}

type model struct {
	Options // BaseURL is normalized
	host    string
	wire    wire
	refused refused
}

// wire is one of the two APIs.
type wire interface {
	path() string
	body(m *model, req llm.Request) any
	read(m *model, s *stream) error
}

func newModel(o Options) *model {
	m := &model{Options: o, wire: chatWire{}}
	m.BaseURL, m.host = base(o.BaseURL)
	return m
}

// base completes an address as people write it: without a scheme, with a trailing slash, or with
// the path of one endpoint.
func base(address string) (baseURL, host string) {
	if address == "" {
		address = "https://" + hostOpenAI
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	address = strings.TrimRight(address, "/")
	for _, endpoint := range []string{"/chat/completions", "/responses", "/models"} {
		address = strings.TrimSuffix(address, endpoint)
	}
	u, err := url.Parse(address)
	if err != nil {
		return address, "" // the request will report the error
	}
	if u.Path == "" {
		u.Path = "/v1"
	}
	return u.String(), u.Hostname()
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	var data []byte
	return ask.Stream(ctx, func(ctx context.Context, out *ask.Out) (err error) {
		if data, err = protocol.Marshal(m.wire.body(m, req)); err != nil {
			return fmt.Errorf("build request: %w", err)
		}
		return m.try(ctx, data, &stream{Out: out, limit: req.MaxTokens, sent: len(data)})
	}, func(f *ask.Failure) bool { return m.refused.learn(f, data) })
}
