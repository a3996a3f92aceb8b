package ollama

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// mostContext prevents a model with a huge window from using all of the machine's memory.
const mostContext = 32768

// Models returns the server's models that can chat, those in memory first. ContextWindow is the
// window to run them with: the model's own, at most 32,768, or that of the running model.
func Models(ctx context.Context, o llm.Options) ([]protocol.ModelInfo, error) {
	m := newModel(o)
	var tags struct {
		Models []struct{ Name, Model string }
	}
	if err := m.call(ctx, "/api/tags", nil, &tags); err != nil {
		return nil, err
	}
	list := make([]*protocol.ModelInfo, len(tags.Models))
	var wg crash.Group
	for i, t := range tags.Models {
		wg.Go(func() { list[i] = m.show(ctx, cmp.Or(t.Name, t.Model)) })
	}
	wg.Wait()
	running := m.running(ctx)
	var loaded, rest []protocol.ModelInfo
	for _, info := range list {
		switch {
		case info == nil:
		case running[info.ID] > 0:
			info.ContextWindow = running[info.ID]
			loaded = append(loaded, *info)
		default:
			rest = append(rest, *info)
		}
	}
	return append(loaded, rest...), nil
}

// show queries one model. nil means a model that cannot chat; one without a description is still
// offered.
func (m *model) show(ctx context.Context, name string) *protocol.ModelInfo {
	info := &protocol.ModelInfo{ID: name, Tools: true}
	var about struct {
		Capabilities []string
		ModelInfo    map[string]json.RawMessage `json:"model_info"`
	}
	if m.call(ctx, "/api/show", map[string]string{"model": name}, &about) != nil {
		return info
	}
	if c := about.Capabilities; c != nil {
		if !slices.Contains(c, "completion") {
			return nil
		}
		info.Tools = slices.Contains(c, "tools")
		info.Images = slices.Contains(c, "vision")
		info.Thinking = slices.Contains(c, "thinking")
	}
	for key, raw := range about.ModelInfo {
		var n int64
		if strings.HasSuffix(key, ".context_length") && json.Unmarshal(raw, &n) == nil {
			info.ContextWindow = min(n, mostContext)
		}
	}
	return info
}

// running returns the models in memory with their windows. Old servers do not report the window;
// then it counts as unknown and the model is not put first.
func (m *model) running(ctx context.Context) map[string]int64 {
	var ps struct {
		Models []struct {
			Name    string
			Context int64 `json:"context_length"`
		}
	}
	if m.call(ctx, "/api/ps", nil, &ps) != nil {
		return nil
	}
	out := map[string]int64{}
	for _, r := range ps.Models {
		out[r.Name] = r.Context
	}
	return out
}
