// Package crashtest shows in tests that a panic was logged with its stack.
package crashtest

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/peer/polltest"
)

// Log is the program's log during a test. It is safe for concurrent use.
type Log struct {
	t *testing.T

	mu   sync.Mutex // guards work
	work []string   // of the panics that were logged with a stack
}

// Watch replaces the program's log until the test ends.
func Watch(t *testing.T) *Log {
	l := &Log{t: t}
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	slog.SetDefault(slog.New(handler{l}))
	return l
}

// Until waits for n panics of a work with their stacks.
func (l *Log) Until(n int, work string) {
	l.t.Helper()
	polltest.Until(l.t, fmt.Sprintf("%d panics of %s in the log", n, work), func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		found := 0
		for _, w := range l.work {
			if strings.HasPrefix(w, work) {
				found++
			}
		}
		return found >= n
	})
}

type handler struct{ log *Log }

// Enabled implements [slog.Handler].
func (handler) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements [slog.Handler].
func (h handler) WithGroup(string) slog.Handler { return h }

// Handle implements [slog.Handler].
func (h handler) Handle(_ context.Context, r slog.Record) error {
	work, hasStack := "", false
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "work":
			work = a.Value.String()
		case "stack":
			hasStack = strings.Contains(a.Value.String(), ".go:")
		}
		return true
	})
	if r.Message == "Panic" && hasStack {
		h.log.mu.Lock()
		defer h.log.mu.Unlock()
		h.log.work = append(h.log.work, work)
	}
	return nil
}
