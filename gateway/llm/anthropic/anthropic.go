package anthropic

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"

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
	options func() []option.RequestOption // made at the first request
	think   thinker
	limit   limiter
}

// New returns a model at o.BaseURL, by default [DefaultBaseURL].
func New(o llm.Options) llm.Model { return newModel(o) }

func newModel(o llm.Options) *model {
	m := &model{Options: o}
	m.BaseURL = base(o.BaseURL)
	m.think.adaptive = adaptive(o.Model)
	m.options = sync.OnceValue(func() []option.RequestOption {
		return []option.RequestOption{
			option.WithBaseURL(m.BaseURL + "/"),
			option.WithHTTPClient(ask.Guard(m.Options)),
			option.WithMaxRetries(0),
			option.WithAPIKey(m.Key),
		}
	})
	return m
}

// base completes an address as people write it. The SDK itself adds /v1.
func base(address string) string {
	if address == "" {
		return DefaultBaseURL
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	address = strings.TrimRight(address, "/")
	for _, path := range []string{"/messages", "/v1"} {
		address = strings.TrimRight(strings.TrimSuffix(address, path), "/")
	}
	return address
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	var thinking plan
	var params sdk.MessageNewParams
	return ask.Stream(ctx, func(ctx context.Context, out *ask.Out) error {
		thinking = m.think.plan(req.Thinking, m.Info.Thinking)
		params = m.params(req, thinking)
		return m.try(ctx, params, out)
	}, func(f *ask.Failure) bool {
		if f.Status != http.StatusBadRequest {
			return false
		}
		if m.think.learn(thinking, f.Reason) {
			return true
		}
		fits := m.limit.learn(f.Reason, params.MaxTokens)
		if fits > 0 {
			req.MaxTokens = int(fits)
		}
		return fits > 0
	})
}

func (m *model) try(ctx context.Context, params sdk.MessageNewParams, out *ask.Out) error {
	ctx, watch := ask.WithWatch(ctx)
	service := sdk.NewMessageService(m.options()...)
	stream := service.NewStreaming(ctx, params)
	defer stream.Close() // the SDK's errors on closing say nothing about the answer
	r := &reader{Out: out, model: m.Model, blocks: map[int64]*block{}}
	for stream.Next() {
		if r.take(stream.Current()); r.Stopped() {
			return nil
		}
	}
	switch err := stream.Err(); {
	case watch.Err() != nil:
		return watch.Err()
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return failure(err)
	}
	return r.end()
}

// failure converts an error that came inside an answer.
func failure(err error) error {
	var said *sdk.Error
	if !errors.As(err, &said) {
		return ask.Broken("the answer cannot be parsed: " + err.Error())
	}
	status := http.StatusInternalServerError
	switch said.Type() {
	case "overloaded_error":
		status = 529
	case "rate_limit_error":
		status = http.StatusTooManyRequests
	case "invalid_request_error", "request_too_large", "not_found_error":
		status = http.StatusBadRequest
	case "authentication_error", "permission_error":
		status = http.StatusUnauthorized
	case "timeout_error":
		status = http.StatusRequestTimeout
	}
	return ask.Classify(status, ask.Reason([]byte(said.RawJSON())))
}

// Models returns the models that the key may use, newest first.
func Models(ctx context.Context, o llm.Options) ([]protocol.ModelInfo, error) {
	m := newModel(o)
	ctx, watch := ask.WithWatch(ctx)
	service := sdk.NewModelService(m.options()...)
	pages := service.ListAutoPaging(ctx, sdk.ModelListParams{Limit: sdk.Int(100)})
	var out []protocol.ModelInfo
	for pages.Next() {
		if i := pages.Current(); i.Lifecycle != sdk.ModelInfoLifecycleRetired && i.ID != "" {
			out = append(out, info(i))
		}
	}
	if watch.Err() != nil {
		return nil, watch.Err()
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
