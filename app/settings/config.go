package settings

import (
	"context"
	"encoding/json"
	"fmt"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// readConfig decodes the configuration at a path.
func readConfig[T any](ctx context.Context, app *state.App, path string) (T, error) {
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

// UI has the windows' settings in the configuration.
type UI struct {
	Theme        string  `json:"theme"`
	TextSize     float32 `json:"textSize"`
	FirstRunDone bool    `json:"firstRunDone"`
}

// ReadUI loads it. It blocks.
func ReadUI(ctx context.Context, app *state.App) (UI, error) { return readConfig[UI](ctx, app, "ui") }

// watchConfig calls read on the GUI thread now, whenever the configuration changes, and when the
// gateway reconnects.
func (p *Page) watchConfig(read func()) {
	type seen struct {
		changes   int
		connected bool
	}
	var last *seen
	bind.Watch(p.ctx, p.app.Value, func(v state.View) {
		now := seen{v.ConfigChanged, v.Connected}
		if last == nil || *last != now && v.Connected {
			read()
		}
		last = &now
	})
}
