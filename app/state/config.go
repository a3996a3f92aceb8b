package state

import (
	"context"
	"encoding/json"
	"fmt"

	"fairlead/gateway/protocol"
)

// configAt decodes the configuration at a path; a missing value is the zero value. It blocks.
func configAt[T any](ctx context.Context, a *App, path string) (T, error) {
	var out T
	r, err := Call(ctx, a, protocol.ConfigGet, protocol.ConfigGetParams{Path: path})
	if err != nil || r.Value == nil {
		return out, err
	}
	if err := json.Unmarshal(r.Value, &out); err != nil {
		return out, fmt.Errorf("read %s: %w", path, err)
	}
	return out, nil
}
