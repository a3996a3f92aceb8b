package search

import (
	"context"
	"math"
	"path/filepath"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// globStreamOut is the result of fs_glob. It has all matches, those of the parts too: which ones
// are the newest is known only at the end.
type globStreamOut struct {
	Path      string   `json:"path"`
	Matches   []string `json:"matches"`
	Count     int      `json:"count"`
	Truncated bool     `json:"truncated,omitempty"`
	LeftOut   []string `json:"left_out,omitempty"`
	Duration  int64    `json:"duration_ms"`
}

// GlobStream makes the tool fs_glob for programs. It searches like Glob and sends the first matches
// in parts while it searches, in no order.
func GlobStream(scope access.Scope) toolkit.Tool[access.Call] {
	traits := toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: []string{protocol.CapList}}
	t := toolkit.Define("fs_glob", "Finds files. For programs.", traits, access.ForCalls(scope, streamGlob))
	return toolkit.WithPreview(t, previewGlob(scope))
}

func streamGlob(ctx context.Context, ws *workspace.Root, call access.Call, in globIn) (globStreamOut, error) {
	began := time.Now()
	if !filepath.IsAbs(workspace.Unspell(in.Path)) {
		return globStreamOut{}, protocol.NewFault(protocol.FaultInvalidArgs, "path must be an absolute path on its machine")
	}
	searching, stop := context.WithCancel(ctx)
	defer stop()
	s := &stream[string]{limit: math.MaxInt, found: make(chan []string, searchers), send: call.Chunk, stop: stop}
	var emit func(string)
	var sender crash.Group
	if call.Chunk != nil {
		emit = func(path string) { s.add(searching, []string{workspace.Spell(path)}) }
		sender.Go(func() { s.run(ctx) })
	}
	out, err := runGlob(searching, ws, call.Target, in, maxGlob, emit)
	close(s.found)
	sender.Wait()
	switch {
	case ctx.Err() != nil:
		return globStreamOut{}, ctx.Err()
	case s.err != nil:
		return globStreamOut{}, s.err
	}
	return globStreamOut{out.BasePath, out.Matches, out.Count, out.Truncated, out.LeftOut, time.Since(began).Milliseconds()}, err
}
