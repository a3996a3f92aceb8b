package state

import (
	"context"
	"encoding/json"
	"errors"

	"fairlead/gateway/protocol"
)

// Detect searches for model servers on the gateway's machine. It blocks for some seconds.
func (a *App) Detect(ctx context.Context) ([]protocol.DetectedServer, error) {
	r, err := Call(ctx, a, protocol.ModelsDetect, protocol.Empty{})
	return r.Servers, err
}

// UseServer makes a detected server the default, with its first model that supports tools, or else
// its first model. It blocks.
func (a *App) UseServer(ctx context.Context, s protocol.DetectedServer) (protocol.ModelRef, error) {
	if len(s.Models) == 0 {
		return protocol.ModelRef{}, errors.New(s.Name + " has no model loaded. Load one there, then try again")
	}
	ref := protocol.ModelRef{Provider: s.Provider, ID: s.Models[0].ID}
	for _, m := range s.Models {
		if m.Tools {
			ref.ID = m.ID
			break
		}
	}
	if err := a.Set(ctx, "providers."+s.Provider+".baseUrl", s.BaseURL); err != nil {
		return ref, err
	}
	return ref, a.UseModel(ctx, ref)
}

// UseModel sets the default model, for chats without their own. The thinking level stays unchanged.
// It blocks.
func (a *App) UseModel(ctx context.Context, ref protocol.ModelRef) error {
	type model struct {
		protocol.ModelRef
		ThinkingLevel json.RawMessage `json:"thinkingLevel,omitempty"`
	}
	r, err := Call(ctx, a, protocol.ConfigGet, protocol.ConfigGetParams{Path: "model.thinkingLevel"})
	if err != nil {
		return err
	}
	return a.Set(ctx, "model", model{ref, r.Value})
}
