package tools

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/tool"
	"fairlead/node/workspace"
)

// maxGlob is how many paths one Glob returns: the newest ones.
const maxGlob = 10_000

type globIn struct {
	Pattern string `json:"pattern" jsonschema:"glob pattern relative to path, such as **/*.go or src/**/*.{ts,tsx}"`
	Path    string `json:"path,omitempty" jsonschema:"folder to search in; relative to the workspace; default the workspace"`
}

type globOut struct {
	Pattern   string   `json:"pattern"`
	BasePath  string   `json:"basePath"`
	Matches   []string `json:"matches"`
	Count     int      `json:"count"`
	Truncated bool     `json:"truncated,omitempty"`
	// Total is how many there are when only the newest are returned (extension).
	Total int `json:"total,omitempty"`
}

func globTool(ws *workspace.Root) tool.Tool {
	t := tool.Define("Glob", doc("glob"), tool.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: []string{protocol.CapList}},
		func(ctx context.Context, in globIn) (globOut, error) { return runGlob(ctx, ws, in, maxGlob) })
	return tool.WithPreview(t, func(_ context.Context, in globIn) (protocol.CallPreview, error) {
		start, _ := globStart(in)
		preview := previewPath(ws, start)
		if base := previewPath(ws, in.Path); base.Problem == "" && !preview.Outside {
			preview.Problem = "" // a pattern that begins with a folder that does not exist matches nothing, which is no failure
		}
		return preview, nil
	})
}

// globStart splits off the part of the pattern that names a folder: the walk begins there.
func globStart(in globIn) (start, pattern string) {
	base, pattern := doublestar.SplitPattern(filepath.ToSlash(in.Pattern))
	base = filepath.FromSlash(base)
	switch {
	case filepath.IsAbs(base):
		return base, pattern
	case base == ".":
		return in.Path, pattern
	}
	return filepath.Join(in.Path, base), pattern
}

// hit is one path that matched.
type hit struct {
	path string
	time int64
}

// newest orders hits: the newest first, then by path.
func newest(a, b hit) int {
	return cmp.Or(cmp.Compare(b.time, a.time), strings.Compare(a.path, b.path))
}

func runGlob(ctx context.Context, ws *workspace.Root, in globIn, limit int) (globOut, error) {
	if in.Pattern == "" {
		return globOut{}, failf("pattern must not be empty")
	}
	if !doublestar.ValidatePattern(filepath.ToSlash(in.Pattern)) {
		return globOut{}, failf("Invalid pattern: %s", in.Pattern)
	}
	base, err := ws.Resolve(in.Path)
	if err != nil {
		return globOut{}, err
	}
	out := globOut{Pattern: in.Pattern, BasePath: base.Abs, Matches: []string{}}
	start, pattern := globStart(in)
	from, err := ws.Resolve(start)
	if err != nil {
		return globOut{}, err
	}
	if info, err := checkFolder(ws, base); err != nil || !info.IsDir() {
		return globOut{}, cmp.Or(err, failf("'%s' is not a folder", base.Abs))
	}
	_, info, err := ws.Target(from)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return out, nil
	}
	if err != nil {
		return globOut{}, readError(from, err)
	}
	g := globber{limit: limit, pattern: pattern, deep: strings.Contains(pattern, "**"), levels: strings.Count(pattern, "/"), shown: from.Abs,
		git: namesGit(in.Pattern)}
	if err := walk(ctx, ws, from, &g); err != nil {
		return globOut{}, err
	}
	all := slices.Concat(g.hits...)
	slices.SortFunc(all, newest)
	out.Count = len(all)
	if g.total > limit {
		all = all[:limit]
		out.Count, out.Truncated, out.Total = limit, true, g.total
	}
	for _, h := range all {
		out.Matches = append(out.Matches, h.path)
	}
	return out, nil
}

func checkFolder(ws *workspace.Root, p workspace.Path) (fs.FileInfo, error) {
	_, info, err := ws.Target(p)
	if err != nil {
		return nil, readError(p, err)
	}
	return info, nil
}

// namesGit reports whether a pattern asks for what is in a .git folder, which is left out otherwise.
func namesGit(pattern string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(pattern), "/"), ".git")
}

// globber collects what matches. The walk calls visit from several goroutines, each with its own number.
type globber struct {
	limit   int
	pattern string
	deep    bool // may match at any depth
	levels  int
	shown   string // how the folder where the walk starts is called in results
	git     bool

	hits  [][]hit // per goroutine
	seen  []int
	total int
}

func (g *globber) begin(workers int) { g.hits, g.seen = make([][]hit, workers), make([]int, workers) }

func (g *globber) end() {
	for _, n := range g.seen {
		g.total += n
	}
}

// visit looks at the entries of one folder and names the folders to go on with. rel is the folder's path below the start, with slashes.
func (g *globber) visit(worker int, dir *workspace.Dir, rel string, entries []fs.DirEntry) (down []string) {
	for _, e := range entries {
		name := e.Name()
		sub := path.Join(rel, name)
		if doublestar.MatchUnvalidated(g.pattern, sub) {
			if info, err := dir.Lstat(name); err == nil {
				g.add(worker, hit{filepath.Join(g.shown, filepath.FromSlash(sub)), info.ModTime().UnixNano()})
			}
		}
		if e.IsDir() && (g.deep || strings.Count(sub, "/") < g.levels) && (name != ".git" || g.git) {
			down = append(down, name)
		}
	}
	return down
}

// add keeps the newest hits of a goroutine; when twice as many as can be returned have gathered, the older half goes.
func (g *globber) add(worker int, h hit) {
	g.seen[worker]++
	list := append(g.hits[worker], h)
	if len(list) >= 2*g.limit {
		slices.SortFunc(list, newest)
		list = list[:g.limit]
	}
	g.hits[worker] = list
}
