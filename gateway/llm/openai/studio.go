package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// studio reads LM Studio's own lists, the newer API first, and returns nothing if there is none.
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
