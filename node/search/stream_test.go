package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/tooltest"
)

// callStream calls fs_grep and returns the matches of its parts.
func callStream(b *tooltest.Bench, a tooltest.Args) (out streamOut, found []streamMatch, parts int) {
	b.T.Helper()
	var mu sync.Mutex
	call := access.Call{Chunk: func(_ context.Context, raw json.RawMessage) error {
		mu.Lock()
		defer mu.Unlock()
		var p streamPart[streamMatch]
		if err := json.Unmarshal(raw, &p); err != nil {
			return err
		}
		parts++
		found = append(found, p.Matches...)
		return nil
	}}
	out, err := tooltest.CallContext[streamOut](b.T.Context(), call, b, "fs_grep", a)
	if err != nil {
		b.T.Fatal(err)
	}
	slices.SortFunc(found, func(x, y streamMatch) int {
		if c := strings.Compare(x.Path, y.Path); c != 0 {
			return c
		}
		return x.Line - y.Line
	})
	return out, found, parts
}

func TestMatchesAreSentInParts(t *testing.T) {
	t.Parallel()
	b := benchOf(t, Stream)
	for i := range 30 {
		b.File(fmt.Sprintf("d%d/f.txt", i), strings.Repeat("x\nneedle here\n", 20))
	}
	b.File("other.go", "a\nneedle\nb\n")
	out, found, parts := callStream(b, tooltest.Args{"path": b.WS.Dir(), "pattern": "ne+dle"})
	if out.Count != 601 || out.Files != 31 || out.Truncated || len(found) != 601 || parts < 3 || out.Matches != nil {
		t.Errorf("got %+v, %d matches in %d parts, want 601 of 31 files in several", out, len(found), parts)
	}
	_, found, _ = callStream(b, tooltest.Args{"path": b.WS.Dir(), "pattern": "NEEDLE", "ignore_case": true, "include": "*.go", "before": 1, "after": 1})
	want := streamMatch{Path: filepath.Join(b.WS.Dir(), "other.go"), Line: 2, Text: "needle", Before: []string{"a"}, After: []string{"b"}}
	if len(found) != 1 || fmt.Sprint(found[0]) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", found, want)
	}
	out, found, _ = callStream(b, tooltest.Args{"path": b.WS.Dir(), "pattern": "needle", "max_matches": 7})
	if out.Count != 7 || !out.Truncated || len(found) != 7 {
		t.Errorf("got %+v, %d matches, want 7, truncated", out, len(found))
	}
	_, found, _ = callStream(b, tooltest.Args{"path": filepath.Join(b.WS.Dir(), "other.go"), "pattern": "needle"})
	if len(found) != 1 {
		t.Errorf("of one file: got %+v, want one match", found)
	}
	whole := tooltest.Must[streamOut](b, "fs_grep", tooltest.Args{"path": b.WS.Dir(), "pattern": "needle", "include": "*.go"})
	if len(whole.Matches) != 1 {
		t.Errorf("without parts: got %+v, want one match", whole)
	}
}

func TestStreamSkipsExcludedFiles(t *testing.T) {
	t.Parallel()
	b := benchOf(t, Stream)
	for _, name := range []string{"a", ".hidden", "ignored", "id_rsa"} {
		b.File(name, "needle\n")
	}
	b.File(".ignore", "ignored\n")
	for _, c := range []struct {
		args tooltest.Args
		want string
	}{{tooltest.Args{}, ".hidden a ignored"}, {tooltest.Args{"hidden": false}, "a ignored"}, {tooltest.Args{"ignored": false}, ".hidden a"}} {
		c.args["path"], c.args["pattern"] = b.WS.Dir(), "needle"
		out, found, _ := callStream(b, c.args)
		var names []string
		for _, m := range found {
			names = append(names, filepath.Base(m.Path))
		}
		if got := strings.Join(names, " "); got != c.want || !slices.Equal(out.LeftOut, []string{filepath.Join(b.WS.Dir(), "id_rsa")}) {
			t.Errorf("%v: got %s, left out %v, want %s", c.args, got, out.LeftOut, c.want)
		}
	}
}

func TestInvalidSearchExplainsItself(t *testing.T) {
	t.Parallel()
	b := benchOf(t, Stream)
	dir := b.WS.Dir()
	for _, c := range []struct {
		args tooltest.Args
		code protocol.FaultCode
		text string
	}{
		{tooltest.Args{"path": "relative", "pattern": "x"}, protocol.FaultInvalidArgs, "absolute"},
		{tooltest.Args{"path": dir, "pattern": "("}, protocol.FaultInvalidArgs, ""},
		{tooltest.Args{"path": dir, "pattern": "x", "include": "["}, protocol.FaultInvalidArgs, ""},
		{tooltest.Args{"path": dir, "pattern": "x", "max_matches": maxStream + 1}, protocol.FaultInvalidArgs, "max_matches"},
		{tooltest.Args{"path": dir, "pattern": "x", "max_matches": -1}, protocol.FaultInvalidArgs, "max_matches"},
		{tooltest.Args{"path": dir, "pattern": "x", "before": 21}, protocol.FaultInvalidArgs, "0 to 20"},
		{tooltest.Args{"path": dir, "pattern": "x", "after": -1}, protocol.FaultInvalidArgs, "0 to 20"},
		{tooltest.Args{"path": filepath.Join(dir, "none"), "pattern": "x"}, protocol.FaultNotFound, ""},
	} {
		_, err := tooltest.Call[streamOut](b, "fs_grep", c.args)
		f, _ := errors.AsType[*protocol.Fault](err)
		if f == nil || f.Code != c.code || !strings.Contains(f.Message, c.text) {
			t.Errorf("%v: got %v, want %s %q", c.args, err, c.code, c.text)
		}
	}
}

func TestLimitsAreThoseOfTheDocumentation(t *testing.T) {
	t.Parallel()
	tooltest.Documented(t, "`fs_glob` returns the newest %s files", tooltest.Grouped(maxGlob))
	tooltest.Documented(t, "ends at `max_matches` (%s, up to %s) and shows at most %d lines", tooltest.Grouped(defaultStream), tooltest.Grouped(maxStream), maxContext)
}

func TestSearchEndsWithoutAReader(t *testing.T) {
	t.Parallel()
	b := benchOf(t, Stream)
	for i := range 200 {
		b.File(fmt.Sprintf("d%d/f.txt", i), "needle\n")
	}
	gone := errors.New("gone")
	_, err := tooltest.CallContext[streamOut](t.Context(), access.Call{Chunk: func(context.Context, json.RawMessage) error { return gone }}, b, "fs_grep", tooltest.Args{"path": b.WS.Dir(), "pattern": "needle"})
	if !errors.Is(err, gone) {
		t.Errorf("got error %v, want %v", err, gone)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = tooltest.CallContext[streamOut](ctx, access.Call{Chunk: func(ctx context.Context, _ json.RawMessage) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}}, b, "fs_grep", tooltest.Args{"path": b.WS.Dir(), "pattern": "needle"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

// BenchmarkFirstPart measures how long the first match takes in a tree of 5,000 files.
func BenchmarkFirstPart(b *testing.B) {
	bench := benchOf(b, Stream)
	for i := range 5000 {
		bench.File(fmt.Sprintf("d%d/f%d.txt", i%100, i), strings.Repeat("some text without it\n", 200)+"needle\n")
	}
	var first time.Duration
	for b.Loop() {
		began := time.Now()
		ctx, cancel := context.WithCancel(b.Context())
		call := access.Call{Chunk: func(context.Context, json.RawMessage) error {
			first += time.Since(began)
			cancel()
			return context.Canceled
		}}
		tooltest.CallContext[streamOut](ctx, call, bench, "fs_grep", tooltest.Args{"path": bench.WS.Dir(), "pattern": "needle"})
		cancel()
	}
	b.ReportMetric(float64(first.Milliseconds())/float64(b.N), "ms/first-part")
}

// lateFile calls a streaming search in a chain of folders with a file each, and creates one more in
// the last folder when the first part arrives. It returns how many files the search found.
func lateFile(t *testing.T, b *tooltest.Bench, tool string, a tooltest.Args) int {
	t.Helper()
	const depth = 40 // many more files than the search finds while a part waits for its receiver
	for i := range depth {
		b.File(strings.Repeat("d/", i)+"f.txt", "needle\n")
	}
	var late sync.Once
	call := access.Call{Chunk: func(context.Context, json.RawMessage) error {
		late.Do(func() { b.File(strings.Repeat("d/", depth-1)+"late.txt", "needle\n") })
		return nil
	}}
	a["path"] = b.WS.Dir()
	out, err := tooltest.CallContext[struct{ Count int }](t.Context(), call, b, tool, a)
	if err != nil {
		t.Fatal(err)
	}
	return out.Count - depth
}

func TestFirstPartArrivesBeforeTheSearchEnds(t *testing.T) {
	t.Parallel()
	if got := lateFile(t, benchOf(t, Stream), "fs_grep", tooltest.Args{"pattern": "needle"}); got != 1 {
		t.Errorf("fs_grep: got %d files that were created after the first part, want 1", got)
	}
	if got := lateFile(t, benchOf(t, GlobStream), "fs_glob", tooltest.Args{"pattern": "**/*.txt"}); got != 1 {
		t.Errorf("fs_glob: got %d files that were created after the first part, want 1", got)
	}
}
