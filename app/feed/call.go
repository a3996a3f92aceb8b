package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Sentence turns an error's text into a sentence.
func Sentence(err error) string {
	s := strings.TrimSpace(err.Error())
	if s == "" {
		return "Something went wrong."
	}
	return format.Capital(s)
}

// Gateway calls methods of the gateway. [Feed] implements it; tests of pages replace it.
type Gateway interface {
	// Invoke calls a method and returns its result as JSON. It blocks.
	Invoke(ctx context.Context, method string, params any) (json.RawMessage, error)
}

// Call calls a method and waits for its result. Forms use it through bind.Go.
func Call[P, R any](ctx context.Context, g Gateway, m protocol.Method[P, R], p P) (result R, err error) {
	raw, err := g.Invoke(ctx, m.Name, p)
	if err != nil || len(raw) == 0 {
		return result, err
	}
	if err := protocol.Unmarshal(raw, &result); err != nil {
		return result, fmt.Errorf("reading the result of %s: %w", m.Name, err)
	}
	return result, nil
}

// Send is [Call] for a result that does not matter.
func Send[P, R any](ctx context.Context, a Gateway, m protocol.Method[P, R], p P) error {
	_, err := Call(ctx, a, m, p)
	return err
}

// Start calls a method in the background. A failure becomes a notice.
func Start[P, R any](f *Feed, m protocol.Method[P, R], p P) {
	f.Tasks.Do(func(ctx context.Context) error { return Send(ctx, f, m, p) })
}
