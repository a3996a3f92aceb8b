package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// Models returns the models of the server at o.BaseURL that can chat. Values that a server does not
// report are zero, except Tools and Images: those are true unless the server says otherwise,
// because it refuses requests that it does not support. Models that LM Studio or llama.cpp have
// loaded come first, and their ContextWindow is the current one.
func Models(ctx context.Context, o llm.Options) ([]protocol.ModelInfo, error) {
	m := newModel(o)
	raw, err := m.get(ctx, m.BaseURL+"/models")
	if err != nil {
		return nil, err
	}
	list, err := parseList(raw)
	if err != nil {
		return nil, protocol.ErrModel.With(fmt.Sprintf("the server's list of models cannot be read: %v", err))
	}
	var out []protocol.ModelInfo
	for _, l := range list {
		if l.canChat() {
			out = append(out, l.info(m.host))
		}
	}
	switch {
	case slices.ContainsFunc(list, func(l listedModel) bool { return l.OwnedBy == "llamacpp" }):
		m.addProps(ctx, out)
	case slices.ContainsFunc(list, func(l listedModel) bool { return strings.HasPrefix(l.OwnedBy, "organization") }):
		if better := m.studio(ctx); len(better) > 0 {
			out = better
		}
	}
	return out, nil
}

// root returns the server's address without the API's path.
func (m *model) root() string { return strings.TrimSuffix(m.BaseURL, "/v1") }

// parseList returns the list in a response: under "data" (OpenAI), under "models" (LM Studio,
// Cohere), or the whole response (Together).
func parseList(raw []byte) ([]listedModel, error) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		var object struct{ Data, Models []json.RawMessage }
		if err := json.Unmarshal(raw, &object); err != nil {
			return nil, err
		}
		if items = object.Data; items == nil {
			items = object.Models
		}
	}
	var list []listedModel
	for _, item := range items {
		var l listedModel
		if json.Unmarshal(item, &l) != nil || l.ID == "" {
			// A field has an unexpected type: only the name is needed.
			var bare struct{ ID string }
			if json.Unmarshal(item, &bare) != nil || bare.ID == "" {
				continue
			}
			l = listedModel{ID: bare.ID}
		}
		list = append(list, l)
	}
	return list, nil
}

// listedModel is one entry of GET /models, with the additional fields of all known servers.
type listedModel struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	OwnedBy string `json:"owned_by"`
	Type    string `json:"type"` // Together: chat, image, embedding …
	Active  *bool  `json:"active"`

	ContextLength int64 `json:"context_length"`     // OpenRouter, Together
	MaxModelLen   int64 `json:"max_model_len"`      // vLLM
	ContextWindow int64 `json:"context_window"`     // Groq
	MaxContext    int64 `json:"max_context_length"` // Mistral
	MaxCompletion int64 `json:"max_completion_tokens"`
	Meta          *struct {
		Context int64 `json:"n_ctx"`
		Train   int64 `json:"n_ctx_train"`
	} `json:"meta"` // llama.cpp

	Architecture *struct {
		Input  []string `json:"input_modalities"`
		Output []string `json:"output_modalities"`
	} `json:"architecture"` // OpenRouter
	Top *struct {
		MaxCompletion int64 `json:"max_completion_tokens"`
	} `json:"top_provider"` // OpenRouter
	Parameters []string `json:"supported_parameters"` // OpenRouter
	// OpenRouter: text, dollars per token; Together: number, dollars per million
	Pricing      map[string]json.RawMessage `json:"pricing"`
	Capabilities json.RawMessage            `json:"capabilities"` // Mistral: an object of flags
}

// canChat excludes models that only make embeddings, speech or images.
func (l listedModel) canChat() bool {
	if l.Architecture != nil && l.Architecture.Output != nil {
		return slices.Contains(l.Architecture.Output, "text")
	}
	if l.Active != nil && !*l.Active || slices.Contains([]string{"embedding", "embeddings", "image", "audio", "moderation", "rerank", "transcribe", "video"}, l.Type) {
		return false
	}
	return !slices.ContainsFunc([]string{
		"embed", "whisper", "tts", "dall-e", "moderation", "transcribe", "rerank", "gpt-image", "sora", "realtime", "davinci", "babbage",
	}, func(word string) bool { return strings.Contains(strings.ToLower(l.ID), word) })
}

func (l listedModel) info(host string) protocol.ModelInfo {
	i := protocol.ModelInfo{ID: l.ID, Name: l.Name, MaxOutput: l.MaxCompletion, Tools: true, Images: true}
	i.ContextWindow = max(l.ContextLength, l.MaxModelLen, l.ContextWindow, l.MaxContext)
	if l.Meta != nil {
		i.ContextWindow = cmp.Or(l.Meta.Context, l.Meta.Train)
	}
	if l.Top != nil {
		i.MaxOutput = l.Top.MaxCompletion
	}
	if l.Architecture != nil {
		i.Images = slices.Contains(l.Architecture.Input, "image")
	}
	if l.Parameters != nil {
		i.Tools = slices.Contains(l.Parameters, "tools")
		i.Thinking = slices.Contains(l.Parameters, "reasoning")
	}
	var flags struct {
		Calling *bool `json:"function_calling"`
		Vision  bool
	}
	if json.Unmarshal(l.Capabilities, &flags) == nil && flags.Calling != nil {
		i.Tools, i.Images = *flags.Calling, flags.Vision
	}
	if host == hostOpenAI {
		i.Thinking = strings.HasPrefix(l.ID, "gpt-5") || len(l.ID) > 1 && l.ID[0] == 'o' && l.ID[1] >= '0' && l.ID[1] <= '9'
		i.Images = i.Thinking || strings.HasPrefix(l.ID, "gpt-4o") || strings.HasPrefix(l.ID, "gpt-4.1")
	}
	i.PriceIn = l.price("prompt", "input")
	i.PriceOut = l.price("completion", "output")
	i.PriceRead = l.price("input_cache_read", "cached_input")
	i.PriceWrite = l.price("input_cache_write", "")
	return i
}

// price returns dollars per million tokens: text is OpenRouter's price of one token, a number
// Together's of a million. A negative price means that it varies.
func (l listedModel) price(perToken, perMillion string) *float64 {
	if s := text(l.Pricing[perToken]); s != "" {
		if p, err := strconv.ParseFloat(s, 64); err == nil && p >= 0 {
			return new(p * 1e6)
		}
		return nil
	}
	var p float64
	if raw, ok := l.Pricing[perMillion]; ok && json.Unmarshal(raw, &p) == nil && p >= 0 {
		return &p
	}
	return nil
}

// addProps queries whether llama.cpp's model supports images, and its template. If the server does
// not report them, the list is not changed.
func (m *model) addProps(ctx context.Context, list []protocol.ModelInfo) {
	raw, err := m.get(ctx, m.root()+"/props")
	if err != nil {
		return
	}
	var props struct {
		Modalities struct{ Vision bool }
		Settings   struct {
			Context int64 `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Caps struct {
			Tools *bool `json:"supports_tools"`
		} `json:"chat_template_caps"`
	}
	if json.Unmarshal(raw, &props) != nil {
		return
	}
	for i := range list {
		list[i].Images = props.Modalities.Vision
		// the window of one slot; meta may have the one used in training
		if props.Settings.Context > 0 {
			list[i].ContextWindow = props.Settings.Context
		}
		if props.Caps.Tools != nil {
			list[i].Tools = *props.Caps.Tools
		}
	}
}

// studio reads LM Studio's own lists, the newer API first. Other servers have none of them.
func (m *model) studio(ctx context.Context) []protocol.ModelInfo {
	if raw, err := m.get(ctx, m.root()+"/api/v1/models"); err == nil {
		if list := studioV1(raw); len(list) > 0 {
			return list
		}
	}
	if raw, err := m.get(ctx, m.root()+"/api/v0/models"); err == nil {
		return studioV0(raw)
	}
	return nil
}

// studioV1 parses GET /api/v1/models of LM Studio 0.4 and later.
func studioV1(raw []byte) []protocol.ModelInfo {
	var answer struct {
		Models []struct {
			Type       string
			Key        string
			Name       string `json:"display_name"`
			MaxContext int64  `json:"max_context_length"`
			Loaded     []struct {
				Config struct {
					Context int64 `json:"context_length"`
				}
			} `json:"loaded_instances"`
			Capabilities struct {
				Vision   bool
				Tools    bool            `json:"trained_for_tool_use"`
				Thinking json.RawMessage // first a flag, later an object
			}
		}
	}
	if json.Unmarshal(raw, &answer) != nil {
		return nil
	}
	var out studioModels
	for _, m := range answer.Models {
		info := protocol.ModelInfo{
			ID: m.Key, Name: m.Name, ContextWindow: m.MaxContext, Images: m.Capabilities.Vision, Tools: m.Capabilities.Tools,
			Thinking: !slices.Contains([]string{"", "false", "null"}, string(m.Capabilities.Thinking)),
		}
		if len(m.Loaded) > 0 {
			info.ContextWindow = cmp.Or(m.Loaded[0].Config.Context, info.ContextWindow)
		}
		out.add(info, m.Type, len(m.Loaded) > 0)
	}
	return append(out.loaded, out.rest...)
}

type studioModels struct{ loaded, rest []protocol.ModelInfo }

func (s *studioModels) add(info protocol.ModelInfo, kind string, isLoaded bool) {
	switch {
	case info.ID == "" || strings.HasPrefix(kind, "embedding"):
	case isLoaded:
		s.loaded = append(s.loaded, info)
	default:
		s.rest = append(s.rest, info)
	}
}

// studioV0 parses GET /api/v0/models.
func studioV0(raw []byte) []protocol.ModelInfo {
	var answer struct {
		Data []struct {
			ID, Type, State string
			MaxContext      int64 `json:"max_context_length"`
			Context         int64 `json:"loaded_context_length"`
			Capabilities    []string
		}
	}
	if json.Unmarshal(raw, &answer) != nil {
		return nil
	}
	var out studioModels
	for _, m := range answer.Data {
		info := protocol.ModelInfo{ID: m.ID, ContextWindow: m.MaxContext, Images: m.Type == "vlm", Tools: slices.Contains(m.Capabilities, "tool_use")}
		if m.State == "loaded" {
			info.ContextWindow = cmp.Or(m.Context, m.MaxContext)
		}
		out.add(info, m.Type, m.State == "loaded")
	}
	return append(out.loaded, out.rest...)
}
