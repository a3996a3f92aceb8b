// Package anthropic implements Anthropic's messages API through the official SDK, for Anthropic
// itself or a server with the same endpoint, such as llama-server.
//
// The SDK builds requests and decodes events. Three things are done here instead: retries (ours are
// reported to the person), credentials (only a key that the person set is used, never one from the
// environment or files), and the assembly of blocks, because some servers let blocks overlap and
// close all of them at the very end.
package anthropic

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// DefaultBaseURL is Anthropic's own API.
const DefaultBaseURL = "https://api.anthropic.com"

type model struct {
	llm.Options
	adaptive bool         // version 4.6 or later
	refused  ask.Refusals // settings of thinking
	most     atomic.Int64 // the learned limit of an answer; 0 if there is none
}

// New returns a model at o.BaseURL, by default [DefaultBaseURL].
func New(o llm.Options) llm.Model { return newModel(o) }

func newModel(o llm.Options) *model {
	o.BaseURL = ask.BaseURL(o.BaseURL, DefaultBaseURL, "/messages", "/v1") // the SDK itself adds /v1
	return &model{Options: o, adaptive: adaptive(o.Model)}
}

// sdkOptions returns the options of one request, and the guard that has the cause of its failure.
func (m *model) sdkOptions() ([]option.RequestOption, *ask.Guard) {
	client, guard := ask.NewGuard(m.Options)
	return []option.RequestOption{
		option.WithBaseURL(m.BaseURL + "/"), option.WithHTTPClient(client), option.WithMaxRetries(0), option.WithAPIKey(m.Key),
	}, guard
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	var thinking plan
	var params sdk.MessageNewParams
	return ask.Stream(ctx, func(ctx context.Context, out *ask.Out) error {
		thinking = m.plan(req.Thinking)
		params = m.params(req, thinking)
		return m.try(ctx, params, out)
	}, func(f *ask.Failure) bool {
		if f.Status != http.StatusBadRequest {
			return false
		}
		if m.learn(thinking, f.Reason) {
			return true
		}
		fits := m.learnLimit(f.Reason, params.MaxTokens)
		if fits > 0 {
			req.MaxTokens = int(fits)
		}
		return fits > 0
	})
}

func (m *model) try(ctx context.Context, params sdk.MessageNewParams, out *ask.Out) error {
	options, guard := m.sdkOptions()
	service := sdk.NewMessageService(options...)
	stream := service.NewStreaming(ctx, params)
	defer stream.Close() // the SDK's errors on closing say nothing about the answer
	r := &reader{Out: out, model: m.Model, blocks: map[int64]*block{}}
	for stream.Next() {
		if r.take(stream.Current()); r.Stopped() {
			return nil
		}
	}
	switch err := stream.Err(); {
	case guard.Err() != nil:
		return guard.Err()
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return failure(err)
	}
	return r.end()
}

// failure converts an error that came inside an answer.
func failure(err error) error {
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return ask.StreamError([]byte(e.RawJSON()))
	}
	return ask.Broken("the answer cannot be parsed: " + err.Error())
}

// Models returns the models that the key may use, newest first.
func Models(ctx context.Context, o llm.Options) ([]protocol.ModelInfo, error) {
	m := newModel(o)
	options, guard := m.sdkOptions()
	service := sdk.NewModelService(options...)
	pages := service.ListAutoPaging(ctx, sdk.ModelListParams{Limit: sdk.Int(100)})
	var out []protocol.ModelInfo
	for pages.Next() {
		if i := pages.Current(); i.Lifecycle != sdk.ModelInfoLifecycleRetired && i.ID != "" {
			out = append(out, info(i))
		}
	}
	if guard.Err() != nil {
		return nil, guard.Err()
	}
	if err := pages.Err(); err != nil {
		return nil, failure(err)
	}
	return out, nil
}

// info converts the API's description of a model. All models of this family call tools; if a server
// does not report abilities, the model counts as having them.
func info(i sdk.ModelInfo) protocol.ModelInfo {
	out := protocol.ModelInfo{ID: i.ID, Name: i.DisplayName, ContextWindow: i.MaxInputTokens, MaxOutput: i.MaxTokens, Tools: true, Images: true}
	if i.JSON.Capabilities.Valid() {
		out.Images = i.Capabilities.ImageInput.Supported
		out.Thinking = i.Capabilities.Thinking.Supported
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
			m.most.Store(most)
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
