// Package anthropic implements Anthropic's messages API, for Anthropic itself or a server with the
// same endpoint, such as llama-server. Some servers let blocks overlap and close all of them at the
// very end.
package anthropic

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

const defaultBaseURL = "https://api.anthropic.com"

type model struct {
	llm.Options
	adaptive  bool         // version 4.6 or later
	refused   ask.Refusals // settings of thinking
	maxOutput atomic.Int64 // the learned limit of an answer; 0 if none exists
}

// New returns a model at o.BaseURL, by default Anthropic's own API.
func New(o llm.Options) llm.Model { return newModel(o) }

func newModel(o llm.Options) *model {
	o.BaseURL = ask.BaseURL(o.BaseURL, defaultBaseURL, "/messages", "/v1")
	return &model{Options: o, adaptive: adaptive(o.Model)}
}

// httpRequest returns a request with the key; body is nil for a GET.
func (m *model) httpRequest(path string, body any) ask.Request {
	r := ask.Request{URL: m.BaseURL + path, Body: body, Header: map[string]string{"Anthropic-Version": apiVersion}}
	if m.Key != "" {
		r.Header["X-Api-Key"] = m.Key
	}
	return r
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	var thinking plan
	var body request
	return ask.Stream(ctx, func(ctx context.Context, out *ask.Out) error {
		thinking = m.plan(req.Thinking)
		body = m.request(req, thinking)
		r := &reader{Out: out, model: m.Model, blocks: map[int64]*openBlock{}}
		return ask.Exchange(ctx, m.Options, m.httpRequest("/v1/messages", body), out, r)
	}, func(f *ask.Failure) bool {
		if f.Status != http.StatusBadRequest {
			return false
		}
		if m.learn(thinking, f.Reason) {
			return true
		}
		fits := m.learnLimit(f.Reason, body.MaxTokens)
		if fits > 0 {
			req.MaxTokens = int(fits)
		}
		return fits > 0
	})
}

const maxPages = 100

// Models returns the models that the key may use, newest first.
func Models(ctx context.Context, o llm.Options) ([]protocol.ModelInfo, error) {
	m := newModel(o)
	var out []protocol.ModelInfo
	query := url.Values{"limit": {"100"}}
	for range maxPages {
		data, err := ask.Read(ctx, m.Options, m.httpRequest("/v1/models?"+query.Encode(), nil))
		if err != nil {
			return nil, err
		}
		var page modelList
		if err := ask.Decode(data, &page); err != nil {
			return nil, err
		}
		for _, l := range page.Data {
			if l.Lifecycle != "retired" && l.ID != "" {
				out = append(out, l.info())
			}
		}
		if !page.HasMore || page.LastID == "" {
			break
		}
		query.Set("after_id", page.LastID)
	}
	return out, nil
}

// info converts the API's description of a model. All models of this family call tools; if a server
// does not report abilities, the model counts as having them.
func (l listedModel) info() protocol.ModelInfo {
	out := protocol.ModelInfo{ID: l.ID, Name: l.Name, ContextWindow: l.MaxInput, MaxOutput: l.MaxTokens, Tools: true, Images: true}
	if l.Capabilities != nil {
		out.Images, out.Thinking = l.Capabilities.Image.Supported, l.Capabilities.Thinking.Supported
	}
	return out
}

var (
	// "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for …"
	tooMany = regexp.MustCompile(`max_tokens: (\d+) > (\d+)`)
	// "input length and `max_tokens` exceed context limit: 150000 + 64000 > 200000, decrease …"
	noRoom = regexp.MustCompile(`(\d+) \+ (\d+) > (\d+)`)
)

// leastAnswer is the smallest answer, in tokens, for which a request is worth sending.
const leastAnswer = 1024

// learnLimit parses the error of a request for an answer of up to asked tokens. fits is a length
// that the server would accept, 0 if the error contains none. A limit that applies to every request
// is stored, because the known limit of a model can be wrong.
func (m *model) learnLimit(reason string, asked int64) (fits int64) {
	if found := tooMany.FindStringSubmatch(reason); found != nil {
		if most := number(found[2]); most >= leastAnswer && most < asked {
			m.maxOutput.Store(most)
			return most
		}
	}
	if found := noRoom.FindStringSubmatch(reason); found != nil && strings.Contains(reason, "max_tokens") {
		if room := number(found[3]) - number(found[1]); room >= leastAnswer && room < asked {
			return room
		}
	}
	return 0
}

// number parses digits; a number that is too large is the largest one.
func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}
