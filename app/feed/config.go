package feed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// EndFirstRun stores that the page of the first start is done. It blocks.
func EndFirstRun(ctx context.Context, g Gateway) error { return Set(ctx, g, "ui.firstRunDone", true) }

// Set changes a setting of the configuration; nil resets it. It blocks.
func Set(ctx context.Context, g Gateway, path string, value any) error {
	raw, err := protocol.Marshal(value)
	if err != nil {
		return err
	}
	err = Send(ctx, g, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: raw})
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		return refusal.With(WithoutPath(path, refusal.Message))
	}
	return err
}

// WithoutPath says why the value of a setting was refused, without the path of the setting, which a
// form does not show.
func WithoutPath(path, text string) string {
	rest, ok := strings.CutPrefix(text, path)
	if reason, of := strings.CutPrefix(rest, ": "); ok && of {
		return reason
	}
	if ok && strings.HasPrefix(rest, " ") {
		return "this" + rest
	}
	return text
}

// ConfigAt decodes the configuration at a path; empty is all. A missing value is zero. It blocks.
func ConfigAt[T any](ctx context.Context, a Gateway, path string) (T, error) {
	var out T
	r, err := Call(ctx, a, protocol.ConfigGet, protocol.ConfigGetParams{Path: path})
	if path == "" {
		r.Value = r.Config
	}
	if err != nil || r.Value == nil {
		return out, err
	}
	if err := json.Unmarshal(r.Value, &out); err != nil {
		return out, fmt.Errorf("reading %s: %w", cmp.Or(path, "the configuration"), err)
	}
	return out, nil
}
