package setup

import (
	"context"
	"io"
	"strings"
	"testing"
)

// TestCtrlCEndsTheQuestionAboutTheWords: a person who interrupts the question has not agreed.
func TestCtrlCEndsTheQuestionAboutTheWords(t *testing.T) {
	t.Parallel()
	keys, typed := io.Pipe()
	defer typed.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	answered := make(chan bool)
	go func() { answered <- NewJoin(ctx, keys, io.Discard).Confirm(nil) }()
	interrupt()
	if <-answered {
		t.Error("got yes, want no")
	}
	for text, want := range map[string]bool{"y\n": true, " Yes\n": true, "\n": false, "n\n": false, "": false} {
		if got := NewJoin(t.Context(), strings.NewReader(text), io.Discard).Confirm(nil); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestNodeIDsMayHaveDots(t *testing.T) {
	t.Parallel()
	for id, ok := range map[string]bool{"my.node.local": true, "box": true, ".box": false, "a b": false, "a__b": false} {
		f := Flags{ID: id, Workspace: t.TempDir()}
		opts, err := f.Options("1", io.Discard)
		if (err == nil) != ok || ok && string(opts.ID) != id {
			t.Errorf("%q: got %q, %v; want valid: %v", id, opts.ID, err, ok)
		}
	}
}
