// Package openai implements the APIs of OpenAI and of all compatible servers: chat completions,
// which dozens of servers offer, and responses, which OpenAI prefers. It is one tolerant client:
// where servers differ (the name of thoughts, the choices of a usage chunk, the end of a stream),
// it accepts every known form, and it omits a parameter that a server has refused from then on.
//
// Data that a provider requires back unchanged (reasoning details, encrypted reasoning items,
// signatures of calls) is stored in [protocol.Block.Opaque] together with its API and model, and is
// sent to no other.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// Hosts that get parameters which others would refuse.
const (
	hostOpenAI     = "api.openai.com"
	hostOpenRouter = "openrouter.ai"
	hostMistral    = "api.mistral.ai"
)

// New returns a model of the server at o.BaseURL with the API in o.Wire; by default with responses
// at api.openai.com and with chat completions elsewhere. An address without a path gets /v1; empty
// means OpenAI itself.
func New(o llm.Options) llm.Model { return newModel(o) }

type model struct {
	llm.Options // BaseURL is normalized
	host        string
	wire        wire
	refused     ask.Refusals // parameters
}

// wire is one of the two APIs.
type wire struct {
	path   string
	body   func(*model, llm.Request) any
	reader func(*model, stream) ask.Reader
}

func newModel(o llm.Options) *model {
	m := &model{Options: o, wire: chatWire}
	m.BaseURL = ask.BaseURL(o.BaseURL, "https://"+hostOpenAI, "/chat/completions", "/responses", "/models")
	if u, err := url.Parse(m.BaseURL); err == nil { // otherwise the request will report the error
		u.Path = cmp.Or(u.Path, "/v1")
		m.BaseURL, m.host = u.String(), u.Hostname()
	}
	if o.Wire == "responses" || o.Wire == "" && m.host == hostOpenAI {
		m.wire = responsesWire
	}
	return m
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	var data json.RawMessage
	return ask.Stream(ctx, func(ctx context.Context, out *ask.Out) (err error) {
		if data, err = protocol.Marshal(m.wire.body(m, req)); err != nil {
			return fmt.Errorf("build request: %w", err)
		}
		tools := make(map[string]bool, len(req.Tools))
		for _, t := range req.Tools {
			tools[t.Name] = true
		}
		r := m.wire.reader(m, stream{Out: out, limit: req.MaxTokens, sent: len(data), tools: tools})
		return ask.Exchange(ctx, m.Options, m.request(m.BaseURL+m.wire.path, data), out, r)
	}, func(f *ask.Failure) bool { return m.learn(f, data) })
}

func (m *model) request(address string, body any) ask.Request {
	header := map[string]string{}
	if m.Key != "" {
		header["Authorization"] = "Bearer " + m.Key
	}
	if m.host == hostOpenRouter { // identifies the program in OpenRouter's statistics
		header["HTTP-Referer"], header["X-Title"] = "http://localhost", "Fairlead"
	}
	return ask.Request{URL: address, Body: body, Header: header}
}

func (m *model) get(ctx context.Context, address string) ([]byte, error) {
	return ask.Read(ctx, m.Options, m.request(address, nil))
}

type stream struct {
	*ask.Out
	sent  int             // bytes of the request
	limit int             // of the answer in tokens, as requested; 0 means none
	tools map[string]bool // by their names
}

// estimate assumes four bytes per token, for servers that do not count.
func (s stream) estimate() protocol.Usage {
	u := protocol.Usage{Input: int64(s.sent+3) / 4, Output: int64(s.Bytes()+3) / 4, Estimated: true}
	u.Total = u.Input + u.Output
	return u
}

// Parameters that not every server or model accepts.
const (
	paramStreamOptions = "stream_options"
	paramMaxTokens     = "max_tokens"
	paramMaxCompletion = "max_completion_tokens"
	paramEffort        = "reasoning_effort"
	paramCacheKey      = "prompt_cache_key"
	paramReasoning     = "reasoning"
	paramInclude       = "include"
	paramKwargs        = "chat_template_kwargs"
)

// learn looks for a parameter of body in a server's reason for a 400 or 422 and reports whether the
// request should be sent again without it.
func (m *model) learn(f *ask.Failure, body []byte) bool {
	if f.Status != 400 && f.Status != 422 || errors.Is(f, protocol.ErrContextOverflow) {
		return false
	}
	for _, param := range []string{
		paramStreamOptions, paramMaxCompletion, paramMaxTokens, paramKwargs, paramCacheKey, paramInclude, paramEffort, paramReasoning,
	} {
		named := strings.Contains(f.Reason, param) || param == paramInclude && strings.Contains(f.Reason, "ncrypted")
		// A reason may name two parameters, the second as advice; only one of them was sent.
		if named && bytes.Contains(body, []byte(`"`+param+`":`)) {
			return m.refused.Add(param)
		}
	}
	return false
}
