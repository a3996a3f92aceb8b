package search

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// Names finds files and folders below the workspace whose paths contain all words of a query, at
// least one of them in the name, in any case. It leaves out hidden and ignored ones, and folders that
// programs fill, such as node_modules. If ctx ends, it returns what was found by then.
func Names(ctx context.Context, ws *workspace.Root, query string, limit int) (protocol.FilesFindResult, error) {
	out := protocol.FilesFindResult{Found: []protocol.FoundFile{}}
	words := strings.Fields(strings.ToLower(query))
	top, err := ws.Resolve("")
	if err != nil || len(words) == 0 {
		return out, err
	}
	out.Path = workspace.Spell(top.Abs)
	real, _, err := ws.Target(top)
	if err != nil {
		return out, access.ReadError(top, err)
	}
	no := false
	walk, done, err := startWalk(ctx, ws, real.Abs, &no, &no)
	if err != nil { // other searches took all the time
		out.Cut = true
		return out, nil
	}
	defer done()
	walk.noFilled = true
	g := &glob{walk: walk, limit: limit, matches: hasWords(words), depth: math.MaxInt, prefix: len(joinPath(top.Abs, ""))}
	first, err := g.open(top.Abs, real)
	if err != nil {
		return out, access.ReadError(top, err)
	}
	g.folder(first)
	if err := g.wait(); err != nil {
		return out, err
	}
	for _, h := range newestHits(g.hits, limit) {
		out.Found = append(out.Found, protocol.FoundFile{Path: workspace.Spell(h.path[g.prefix:]), Folder: h.isFolder})
	}
	out.Cut = g.total > len(out.Found) || ctx.Err() != nil
	return out, nil
}

// hasWords returns a function that reports whether a path has all words, which are in lower case,
// and at least one of them in its name.
func hasWords(words []string) func(folder, name string) bool {
	return func(folder, name string) bool {
		name = strings.ToLower(name)
		isInName := func(w string) bool { return strings.Contains(name, w) }
		if !slices.ContainsFunc(words, isInName) {
			return false
		}
		path := strings.ToLower(folder) + name
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(path, filepath.ToSlash(w)) })
	}
}

// isFilled reports whether programs fill the folders of a name: nobody looks for their files.
func isFilled(name string) bool {
	return slices.Contains([]string{"node_modules", "bower_components", "__pycache__", "site-packages", "venv"}, name)
}
