// Package registry opens models of all known providers, lists and tests them, and finds servers on
// this machine.
package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/anthropic"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/detect"
	"fairlead/gateway/llm/gemini"
	"fairlead/gateway/llm/ollama"
	"fairlead/gateway/llm/openai"
	"fairlead/gateway/llm/operator"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// Settings returns the person's settings.
type Settings interface {
	// Provider returns the key, the address and the API of a provider; "" for a missing one. The API
	// is "chat" or "responses".
	Provider(id string) (key, baseURL, wire string)
}

// Registry is safe for concurrent use.
type Registry struct {
	settings Settings
	own      Own
	user     map[string]json.RawMessage // by model
	lists    sync.Map                   // of list, by key
}

// Own returns the key and the address of a provider's server that the gateway runs itself, for a
// provider without an address in the settings; "" without one.
type Own func(provider string) (key, baseURL string)

// New returns a registry; own may be nil. In files, which need not exist, the person may correct the
// descriptions of models; they have the format of models.json, and a later one takes precedence.
func New(s Settings, own Own, files ...string) *Registry {
	return &Registry{settings: s, own: own, user: userModels(files)}
}

// Operator is the provider ID of the built-in operator.
const Operator = "operator"

type provider struct {
	protocol.Provider
	env []string // environment variables that may contain a key
	// maxTools is how many tools a request may have; more are an error of the whole request. 0 means
	// no known limit.
	maxTools int
	open     func(llm.Options) llm.Model
	list     func(context.Context, llm.Options) ([]protocol.ModelInfo, error)
}

// mostTools is the limit of OpenAI, which other providers have taken over.
const mostTools = 128

// providers are all providers, in the order in which windows show them.
var providers = withNames([]provider{
	{
		Provider: protocol.Provider{ID: "anthropic", BaseURL: "https://api.anthropic.com", NeedsKey: true, KeyURL: "https://console.anthropic.com/settings/keys"},
		env:      []string{"ANTHROPIC_API_KEY"}, open: anthropic.New, list: anthropic.Models,
	},
	{
		Provider: protocol.Provider{ID: "openai", BaseURL: "https://api.openai.com/v1", NeedsKey: true, KeyURL: "https://platform.openai.com/api-keys"},
		maxTools: mostTools, env: []string{"OPENAI_API_KEY"}, open: openai.New, list: openai.Models,
	},
	{
		Provider: protocol.Provider{ID: "google", BaseURL: "https://generativelanguage.googleapis.com", NeedsKey: true, KeyURL: "https://aistudio.google.com/apikey"},
		maxTools: mostTools, env: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, open: gemini.New, list: gemini.Models,
	},
	{
		Provider: protocol.Provider{ID: "openrouter", BaseURL: "https://openrouter.ai/api/v1", NeedsKey: true, KeyURL: "https://openrouter.ai/keys"},
		maxTools: mostTools, env: []string{"OPENROUTER_API_KEY"}, open: openai.New, list: openai.Models,
	},
	{Provider: protocol.Provider{ID: "ollama", BaseURL: "http://127.0.0.1:11434", Local: true}, open: ollama.New, list: ollama.Models},
	{Provider: protocol.Provider{ID: "lmstudio", BaseURL: "http://127.0.0.1:1234/v1", Local: true}, open: openai.New, list: openai.Models},
	{Provider: protocol.Provider{ID: "llamacpp", BaseURL: "http://127.0.0.1:8080/v1", Local: true}, open: openai.New, list: openai.Models},
	{Provider: protocol.Provider{ID: "compatible"}, maxTools: mostTools, open: openai.New, list: openai.Models},
	{Provider: protocol.Provider{ID: Operator, Local: true}},
})

func withNames(list []provider) []provider {
	for i := range list {
		list[i].Name = protocol.ProviderName(list[i].ID)
	}
	return list
}

func find(id string) (provider, error) {
	i := slices.IndexFunc(providers, func(p provider) bool { return p.ID == id })
	if i < 0 {
		return provider{}, protocol.ErrNotFound.With(fmt.Sprintf("There is no provider %q. The providers are %s.", id, strings.Join(protocol.ProviderIDs, ", ")))
	}
	return providers[i], nil
}

// httpClient has no timeout of its own: an answer may take long, and every request has a context.
var httpClient = &http.Client{Transport: func() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 5 * time.Minute
	return t
}(), CheckRedirect: ask.SameServer}

func (r *Registry) options(p provider, model string) (llm.Options, error) {
	key, baseURL, wire := r.settings.Provider(p.ID)
	if baseURL == "" && r.own != nil {
		if ownKey, address := r.own(p.ID); address != "" {
			key, baseURL = ownKey, address
		}
	}
	o := llm.Options{BaseURL: cmp.Or(baseURL, p.BaseURL), Key: key, Model: model, Wire: wire, HTTP: httpClient}
	if o.BaseURL == "" {
		return o, protocol.ErrBadRequest.With("Enter the server's address, such as http://127.0.0.1:8000/v1.")
	}
	if _, err := url.Parse(o.BaseURL); err != nil {
		return o, protocol.ErrBadRequest.With(fmt.Sprintf("%q is not an address.", o.BaseURL))
	}
	if p.NeedsKey && o.Key == "" {
		return o, protocol.ErrModelAuth.With(fmt.Sprintf("%s needs a key. Paste one in Settings; you get it at %s.", p.Name, p.KeyURL))
	}
	return o, nil
}

// Open opens a model. It may query the provider for the model's abilities, rarely and for at most
// two seconds; it also works without a response.
func (r *Registry) Open(ctx context.Context, ref protocol.ModelRef) (llm.Model, protocol.ModelInfo, error) {
	if ref.Provider == Operator {
		return operator.Model{}, operator.Info, nil
	}
	p, err := find(ref.Provider)
	if err != nil {
		return nil, protocol.ModelInfo{}, err
	}
	// the ID remains when only the provider is changed
	if ref.ID == "" || ref.ID == operator.Info.ID {
		return nil, protocol.ModelInfo{}, protocol.ErrBadRequest.With(fmt.Sprintf("Choose a model of %s in Settings, or set model.id.", p.Name))
	}
	o, err := r.options(p, ref.ID)
	if err != nil {
		return nil, protocol.ModelInfo{}, err
	}
	o.Info = r.info(ctx, p, o, ref.ID)
	if o.Info.MaxTools == 0 {
		o.Info.MaxTools = p.maxTools
	}
	if p.Local && o.Info.PriceIn == nil && o.Info.PriceOut == nil {
		o.Info.PriceIn, o.Info.PriceOut = new(0.0), new(0.0)
	}
	return llm.FitNames(keyHider{p.open(o), o.Key}), o.Info, nil
}

// keyHider is a model that removes its key from errors: some servers quote the key that they
// refuse.
type keyHider struct {
	llm.Model
	key string
}

// Stream implements [llm.Model].
func (m keyHider) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for e, err := range m.Model.Stream(ctx, req) {
			if !yield(e, keychain.Hide(err, m.key)) {
				return
			}
		}
	}
}

// Providers returns the providers with their settings.
func (r *Registry) Providers() []protocol.Provider {
	out := make([]protocol.Provider, 0, len(providers))
	for _, p := range providers {
		info := p.Provider
		key, baseURL, _ := r.settings.Provider(p.ID)
		info.BaseURL, info.KeySet = cmp.Or(baseURL, p.BaseURL), key != ""
		for _, name := range p.env {
			if os.Getenv(name) != "" {
				info.EnvKey = cmp.Or(info.EnvKey, name)
			}
		}
		out = append(out, info)
	}
	return out
}

// Models returns a provider's list of models, completed from the catalogue.
func (r *Registry) Models(ctx context.Context, id string) ([]protocol.ModelInfo, error) {
	if id == Operator {
		return []protocol.ModelInfo{operator.Info}, nil
	}
	p, err := find(id)
	if err != nil {
		return nil, err
	}
	o, err := r.options(p, "")
	if err != nil {
		return nil, err
	}
	return r.fetch(ctx, p, o)
}

// testLimit is the longest duration of a test; a local server may have to load its model first.
const testLimit = 90 * time.Second

// Test tests a provider by listing its models, and a model by one short question. It never fails:
// the result contains the outcome.
func (r *Registry) Test(ctx context.Context, id, model string) protocol.ModelsTestResult {
	ctx, cancel := context.WithTimeout(ctx, testLimit)
	defer cancel()
	began := time.Now()
	result := func(ok bool, text string) protocol.ModelsTestResult {
		return protocol.ModelsTestResult{OK: ok, Message: text, DurationMs: time.Since(began).Milliseconds()}
	}
	if model == "" {
		list, err := r.Models(ctx, id)
		if err != nil {
			return result(false, describeError(err))
		}
		if len(list) == 0 {
			return result(false, "The server answers, but has no model. Load one there, then test again.")
		}
		return result(true, fmt.Sprintf("Connected: %s.", format.Plural(len(list), "model")))
	}
	m, _, err := r.Open(ctx, protocol.ModelRef{Provider: id, ID: model})
	if err != nil {
		return result(false, describeError(err))
	}
	var text strings.Builder
	req := llm.Request{
		System: "Answer with one word.", MaxTokens: 256, Thinking: "none",
		Messages: []protocol.Message{{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("Say ready.")}, Timestamp: began.UnixMilli()}},
	}
	for e, err := range m.Stream(ctx, req) {
		if err != nil {
			return result(false, describeError(err))
		}
		if e.Type == llm.EventText || e.Type == llm.EventThinking {
			text.WriteString(e.Text)
		}
	}
	if text.Len() == 0 && id != Operator {
		return result(false, "The model returned an empty answer.")
	}
	return result(true, fmt.Sprintf("%s answered in %.1f s.", model, max(time.Since(began).Seconds(), 0.1)))
}

func describeError(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "No answer came in time. Is the server busy loading the model?"
	case errors.Is(err, protocol.ErrModelAuth):
		return format.Sentence(err.Error()) + " Check the key in Settings."
	case errors.Is(err, protocol.ErrModelRateLimit):
		return format.Sentence(err.Error()) + " The key works; try again later."
	}
	return format.Sentence(err.Error())
}

// Detect returns the model servers on this machine.
func (r *Registry) Detect(ctx context.Context) []protocol.DetectedServer {
	return detect.Scan(ctx, detect.Addresses())
}
