// Package gemini implements Google's Gemini API with a small client of its own: the official SDK
// depends on gRPC, protobuf and some 190 packages for one POST with server-sent events, and panics
// on JSON of an unexpected shape.
//
// Gemini sends complete function calls, mostly without IDs, so IDs are generated here. It requires
// the signatures of its thoughts back with the parts that they came with; [protocol.Block.Opaque]
// stores them.
package gemini

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

const defaultBaseURL = "https://generativelanguage.googleapis.com"

const pathPrefix = "/v1beta/"

type model struct {
	llm.Options
	version float64      // see versionOf
	refused ask.Refusals // settings of thinking
}

// New returns a model at o.BaseURL, by default Google's own API.
func New(o llm.Options) llm.Model { return newModel(o) }

func newModel(o llm.Options) *model {
	o.Model = strings.TrimPrefix(o.Model, "models/")
	o.BaseURL = ask.BaseURL(o.BaseURL, defaultBaseURL, "/models", "/openai", "/v1beta")
	return &model{Options: o, version: versionOf(o.Model)}
}

// Stream implements [llm.Model].
func (m *model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	var thinking *thinkingConfig
	return ask.Stream(ctx, func(ctx context.Context, out *ask.Out) error {
		thinking = m.thinking(req.Thinking)
		return m.try(ctx, req, thinking, out)
	}, func(f *ask.Failure) bool {
		return f.Status == http.StatusBadRequest && thinking != nil && m.learn(thinking, f.Reason)
	})
}

func (m *model) try(ctx context.Context, req llm.Request, thinking *thinkingConfig, out *ask.Out) error {
	original := names{}
	for _, t := range req.Tools {
		original[validName(t.Name)] = t.Name
	}
	name := m.Model
	if !strings.HasPrefix(name, "tunedModels/") {
		name = "models/" + name
	}
	path := (&url.URL{Path: pathPrefix + name + ":streamGenerateContent"}).EscapedPath() + "?alt=sse"
	send, err := m.httpRequest(path, m.request(req, thinking))
	if err != nil {
		return err
	}
	return ask.Exchange(ctx, m.Options, send, out, &reader{Out: out, model: m.Model, names: original})
}

// httpRequest returns a request with the key; body is nil for a GET. Only a key that the person set
// is used, never one from the environment. A server of one's own may not need one.
func (m *model) httpRequest(path string, body any) (ask.Request, error) {
	r := ask.Request{URL: m.BaseURL + path, Body: body, Refine: refine}
	if m.Key != "" {
		r.Header = map[string]string{"X-Goog-Api-Key": m.Key}
	} else if m.BaseURL == defaultBaseURL {
		return r, protocol.ErrModelAuth.With("Google Gemini needs a key. Paste one in Settings.")
	}
	return r, nil
}

// refine handles Google's peculiarities: an invalid key is a 400, every limit is called a quota,
// and the wait is in the body.
func refine(f *ask.Failure, body []byte) {
	var e struct {
		Error struct {
			Details []struct {
				Reason     string
				RetryDelay string
				Violations []struct{ QuotaID string }
			}
		}
	}
	if json.Unmarshal(body, &e) != nil {
		return
	}
	for _, d := range e.Error.Details {
		if d.Reason == "API_KEY_INVALID" || d.Reason == "API_KEY_EXPIRED" {
			f.Again = false
			f.Err = protocol.ErrModelAuth.With("The provider refused the key: " + f.Reason)
		}
		if f.Status != http.StatusTooManyRequests {
			continue
		}
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			f.Again = true
			f.After = max(f.After, wait)
		}
	}
	for _, d := range e.Error.Details {
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") { // the error contains a delay anyway
				f.Again = false
			}
		}
	}
}

const maxPages = 100

// Models returns the models that the key may use and that can chat.
func Models(ctx context.Context, o llm.Options) ([]protocol.ModelInfo, error) {
	m := newModel(o)
	var out []protocol.ModelInfo
	token := ""
	for range maxPages {
		query := url.Values{"pageSize": {"1000"}}
		if token != "" {
			query.Set("pageToken", token)
		}
		request, err := m.httpRequest(pathPrefix+"models?"+query.Encode(), nil)
		if err != nil {
			return nil, err
		}
		data, err := ask.Read(ctx, m.Options, request)
		if err != nil {
			return nil, err
		}
		var page modelList
		if err := ask.Decode(data, &page); err != nil {
			return nil, err
		}
		for _, l := range page.Models {
			if l.canChat() {
				out = append(out, l.info())
			}
		}
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	return out, nil
}

func (l listedModel) id() string { return strings.TrimPrefix(l.Name, "models/") }

// canChat excludes models for embeddings, speech or video, and those that need another API.
func (l listedModel) canChat() bool {
	if l.id() == "" || !slices.Contains(l.SupportedGenerationMethods, "generateContent") {
		return false
	}
	return !slices.ContainsFunc([]string{"embedding", "-tts", "-live", "audio", "robotics", "computer-use"}, func(word string) bool {
		return strings.Contains(l.id(), word)
	})
}

// info converts Google's description. It does not say which models support images or tools: every
// Gemini model does, except that the image models call no tools.
func (l listedModel) info() protocol.ModelInfo {
	id := l.id()
	gemini := strings.HasPrefix(id, "gemini-")
	return protocol.ModelInfo{
		ID: id, Name: l.DisplayName, ContextWindow: l.InputTokenLimit, MaxOutput: l.OutputTokenLimit,
		Thinking: l.Thinking, Images: gemini, Tools: gemini && !strings.Contains(id, "image"),
	}
}
