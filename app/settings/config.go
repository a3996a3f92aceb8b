package settings

import (
	"context"
	"encoding/json"
	"fmt"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// read decodes the configuration at a path.
func read[T any](ctx context.Context, app *state.App, path string) (T, error) {
	var out T
	r, err := state.Call(ctx, app, protocol.ConfigGet, protocol.ConfigGetParams{Path: path})
	if err != nil {
		return out, err
	}
	if r.Value == nil {
		return out, nil
	}
	if err := json.Unmarshal(r.Value, &out); err != nil {
		return out, fmt.Errorf("read %s: %w", path, err)
	}
	return out, nil
}

// UI is what the windows keep in the configuration.
type UI struct {
	Theme        string  `json:"theme"`
	TextSize     float32 `json:"textSize"`
	FirstRunDone bool    `json:"firstRunDone"`
}

// ReadUI reads it. It blocks.
func ReadUI(ctx context.Context, app *state.App) (UI, error) { return read[UI](ctx, app, "ui") }
