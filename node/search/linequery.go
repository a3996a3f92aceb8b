package search

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"fairlead/node/access"
	"fairlead/node/workspace"
)

// lineQuery is what Grep and fs_grep search for, and where.
type lineQuery struct {
	*matcher
	lineOptions
	base            workspace.Path // a folder or a file
	include         string         // glob for names; empty matches all
	lines           bool           // lines are requested, not files
	hidden, ignored *bool
}

// newLineQuery returns a query without its place and its options.
func newLineQuery(expression, include string) (lineQuery, error) {
	m, err := newMatcher(expression)
	if err == nil {
		err = checkGlob("include pattern", include)
	}
	return lineQuery{matcher: m, include: systemGlob(include)}, err
}

// start waits until the search may start. target is that of the call. The caller calls done at the
// end.
func (q lineQuery) start(ctx context.Context, ws *workspace.Root, target string) (g *grep, done func(), err error) {
	real, info, err := ws.WithTarget(workspace.Unspell(target)).Target(q.base)
	if err != nil {
		return nil, nil, access.MissingError(ws, q.base, err)
	}
	walk, done, err := startWalk(ctx, ws, real.Abs, q.hidden, q.ignored)
	if err != nil {
		return nil, nil, err
	}
	return &grep{
		lineQuery: q, walk: walk, real: real, isFolder: info.IsDir(), visited: map[string]bool{},
		scanners: sync.Pool{New: func() any { return newScanner(ctx, q.matcher, q.lineOptions) }},
	}, done, nil
}

// run searches the folder or the file. The note says why a file was not searched.
func (g *grep) run() (note string, err error) {
	if g.isFolder {
		return "", g.tree()
	}
	return g.file()
}

// file searches a single file.
func (g *grep) file() (note string, err error) {
	if !matchName(g.include, filepath.Base(g.base.Abs)) {
		return fmt.Sprintf("%s was not searched: its name does not match include.", g.base), nil
	}
	f, err := g.ws.WithTarget(g.real.Abs).Content(g.real)
	if err != nil {
		return "", access.ReadError(g.base, err)
	}
	if g.scan(f, filepath.Dir(g.base.Abs), filepath.Base(g.base.Abs)) && g.ctx.Err() == nil {
		note = fmt.Sprintf("%s was not searched: it is neither UTF-8 nor UTF-16 text.", g.base)
	}
	return note, nil
}
