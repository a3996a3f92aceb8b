package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/tooltest"
)

func TestFoundFilesAreSentInPartsAndReturnedNewestFirst(t *testing.T) {
	t.Parallel()
	b := benchOf(t, GlobStream)
	var want []string
	for i := range 450 {
		path := b.File(fmt.Sprintf("d%d/f%d.txt", i%30, i), "")
		if err := os.Chtimes(path, time.Time{}, time.Unix(int64(10_000-i), 0)); err != nil {
			t.Fatal(err)
		}
		want = append(want, path)
	}
	b.File("d0/other", "")
	args := tooltest.Args{"path": b.WS.Dir(), "pattern": "**/*.txt"}
	var found []string
	parts := 0
	call := access.Call{Chunk: func(_ context.Context, raw json.RawMessage) error {
		var p streamPart[string]
		err := json.Unmarshal(raw, &p)
		parts++
		found = append(found, p.Matches...)
		return err
	}}
	out, err := tooltest.CallContext[globStreamOut](t.Context(), call, b, "fs_glob", args)
	if err != nil || out.Path != b.WS.Dir() || out.Count != 450 || out.Truncated {
		t.Errorf("got %+v, %v, want 450 matches", out, err)
	}
	if !slices.Equal(out.Matches, want) {
		t.Errorf("got %d matches, want the %d newest first", len(out.Matches), len(want))
	}
	slices.Sort(found)
	slices.Sort(out.Matches)
	if parts < 3 || !slices.Equal(found, out.Matches) {
		t.Errorf("got %d matches in %d parts, want the %d of the result in several", len(found), parts, len(out.Matches))
	}
	if whole := tooltest.Must[globStreamOut](b, "fs_glob", args); whole.Count != out.Count {
		t.Errorf("without parts: got %d matches, want %d", whole.Count, out.Count)
	}
}

func TestInvalidGlobExplainsItself(t *testing.T) {
	t.Parallel()
	b := benchOf(t, GlobStream)
	for _, path := range []string{"", "relative"} {
		_, err := tooltest.Call[globStreamOut](b, "fs_glob", tooltest.Args{"path": path, "pattern": "*"})
		if f, _ := errors.AsType[*protocol.Fault](err); f == nil || f.Code != protocol.FaultInvalidArgs {
			t.Errorf("path %q: got %v, want %s", path, err, protocol.FaultInvalidArgs)
		}
	}
	_, err := tooltest.Call[globStreamOut](b, "fs_glob", tooltest.Args{"path": filepath.Join(b.WS.Dir(), "none"), "pattern": "*"})
	if f := access.FaultOf(err); f == nil || f.Code != protocol.FaultNotFound {
		t.Errorf("a missing folder: got %v, want %s", err, protocol.FaultNotFound)
	}
}

func TestGlobEndsWithoutAReader(t *testing.T) {
	t.Parallel()
	b := benchOf(t, GlobStream)
	b.File("f", "")
	args := tooltest.Args{"path": b.WS.Dir(), "pattern": "*"}
	gone := errors.New("gone")
	_, err := tooltest.CallContext[globStreamOut](t.Context(), access.Call{Chunk: func(context.Context, json.RawMessage) error { return gone }}, b, "fs_glob", args)
	if !errors.Is(err, gone) {
		t.Errorf("got %v, want %v", err, gone)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = tooltest.CallContext[globStreamOut](ctx, access.Call{Chunk: func(ctx context.Context, _ json.RawMessage) error {
		cancel()
		return ctx.Err()
	}}, b, "fs_glob", args)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
