package state

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Models finds and selects models.
type Models struct{ app *App }

// Detect searches for model servers on the gateway's machine. It blocks for some seconds.
func (m Models) Detect(ctx context.Context) ([]protocol.DetectedServer, error) {
	r, err := feed.Call(ctx, m.app, protocol.ModelsDetect, protocol.Empty{})
	return r.Servers, err
}

// UseServer makes a detected server the default, with its first model with tools, if any.
func (m Models) UseServer(ctx context.Context, s protocol.DetectedServer) (protocol.ModelRef, error) {
	if len(s.Models) == 0 {
		return protocol.ModelRef{}, errors.New(s.Name + " has no model loaded. Load one there, then try again")
	}
	ref := protocol.ModelRef{Provider: s.Provider, ID: s.Models[0].ID}
	if model, ok := lists.Find(s.Models, func(i protocol.ModelInfo) bool { return i.Tools }); ok {
		ref.ID = model.ID
	}
	if err := m.app.Set(ctx, "providers."+s.Provider+".baseUrl", s.BaseURL); err != nil {
		return ref, err
	}
	return ref, m.Use(ctx, ref)
}

// Use sets the default model and leaves the thinking level unchanged. It blocks.
func (m Models) Use(ctx context.Context, ref protocol.ModelRef) error {
	type model struct {
		protocol.ModelRef
		ThinkingLevel json.RawMessage `json:"thinkingLevel,omitempty"`
	}
	r, err := feed.Call(ctx, m.app, protocol.ConfigGet, protocol.ConfigGetParams{Path: "model.thinkingLevel"})
	if err != nil {
		return err
	}
	return m.app.Set(ctx, "model", model{ref, r.Value})
}

// ThinkingName returns the name of a thinking level; empty is the model's own default.
func ThinkingName(level string) string {
	name := map[string]string{"": "Model default", "none": "Off", "xhigh": "Very high"}[level]
	return cmp.Or(name, format.Capital(level))
}
