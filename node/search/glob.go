package search

import (
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// maxGlob is the maximum number of paths that one Glob returns: the newest ones.
const maxGlob = 10_000

type globIn struct {
	Pattern string `json:"pattern" jsonschema:"glob pattern relative to path, such as **/*.go or src/**/*.{ts,tsx}"`
	Path    string `json:"path,omitempty" jsonschema:"folder to search in; relative to the workspace; default the workspace"`
	// The following fields are extensions.
	Hidden  *bool `json:"hidden,omitempty" jsonschema:"false leaves out names that begin with a dot; default true"`
	Ignored *bool `json:"ignored,omitempty" jsonschema:"false leaves out .git and names matched by .gitignore; default true"`
}

type globOut struct {
	Pattern   string   `json:"pattern"`
	BasePath  string   `json:"basePath"`
	Matches   []string `json:"matches"`
	Count     int      `json:"count"`
	Truncated bool     `json:"truncated,omitempty"`
	// Total is the number of matches when only the newest are returned (extension).
	Total int `json:"total,omitempty"`
	// LeftOut lists folders of keys and tokens that were not searched (extension).
	LeftOut []string `json:"leftOut,omitempty"`
}

//go:embed glob.md
var globDoc string

// Glob makes the tool Glob.
func Glob(scope access.Scope) toolkit.Tool[access.Call] {
	t := toolkit.Define("Glob", globDoc, toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: []string{protocol.CapList}},
		func(ctx context.Context, call access.Call, in globIn) (globOut, error) {
			s, done, err := scope.WithFolders(call.Folders)
			if err != nil {
				return globOut{}, err
			}
			defer done()
			return runGlob(ctx, s.Root, call.Target, in, maxGlob)
		})
	return toolkit.WithPreview(t, func(_ context.Context, _ access.Call, in globIn) (protocol.CallPreview, error) {
		start, _ := globStart(in)
		start = workspace.Spell(start)
		need := start
		if p, _ := scope.Resolve(in.Path); p.Outside {
			need = in.Path // the pattern continues from there
		}
		return scope.Preview(need, false, func(s access.Scope) (protocol.CallPreview, error) {
			preview, base := access.PreviewPath(s.Root, start), access.PreviewPath(s.Root, in.Path)
			switch {
			case base.Outside && base.Problem != "":
				return base, nil
			case base.Problem == "" && !preview.Outside:
				// A pattern that begins with a missing folder matches nothing, which is not an
				// error.
				preview.Problem = ""
			}
			return preview, nil
		})
	})
}

// globStart splits off the part of the pattern that names a folder, in which the walk begins. Both
// are spelled as the system spells names.
func globStart(in globIn) (start, pattern string) {
	base, pattern := splitGlob(filepath.ToSlash(systemGlob(in.Pattern)))
	base = filepath.FromSlash(base)
	path := workspace.Unspell(in.Path)
	switch {
	case filepath.IsAbs(base):
		return base, pattern
	case base == ".":
		return path, pattern
	}
	return filepath.Join(path, base), pattern
}

func runGlob(ctx context.Context, ws *workspace.Root, target string, in globIn, limit int) (globOut, error) {
	out := globOut{Pattern: in.Pattern, Matches: []string{}}
	if in.Pattern == "" {
		return out, toolkit.Failf("pattern must not be empty")
	}
	if err := checkGlob("pattern", filepath.ToSlash(in.Pattern)); err != nil {
		return out, err
	}
	base, err := ws.Resolve(in.Path)
	if err != nil {
		return out, err
	}
	out.BasePath = base.String()
	folders := false
	if text := strings.TrimRight(filepath.ToSlash(in.Pattern), "/"); text != "" && len(text) < len(in.Pattern) {
		in.Pattern, folders = text, true
	}
	start, pattern := globStart(in)
	from, err := ws.At(start)
	if err != nil {
		return out, err
	}
	if _, info, err := ws.Target(base); err != nil {
		return out, access.ReadError(base, err)
	} else if !info.IsDir() {
		return out, toolkit.Failf("'%s' is not a folder", base)
	}
	real, info, err := resolveStart(ws, from, target)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && !info.IsDir() {
		return out, nil
	}
	if err != nil {
		return out, access.ReadError(from, err)
	}
	release, err := acquire(ctx)
	if err != nil {
		return out, err
	}
	defer release()
	g := &glob{
		ctx: ctx, ws: ws, limit: limit, pattern: newSplitPattern(pattern), folders: folders, selection: newSelection(in.Hidden, in.Ignored),
		display: strings.TrimSuffix(from.Abs, string(filepath.Separator)), exclusions: newExclusions(ws, real.Abs),
	}
	g.pool = newPool(ctx, false)
	hits, total, err := g.run(ws, from, real)
	if err != nil {
		return out, err
	}
	out.Count, out.LeftOut = len(hits), g.exclusions.skippedPaths()
	if total > len(hits) {
		out.Truncated, out.Total = true, total
	}
	out.Matches = slices.Grow(out.Matches, len(hits))
	for _, h := range hits {
		out.Matches = append(out.Matches, workspace.Spell(h.path()))
	}
	return out, nil
}

// glob collects the matching paths of a tree.
type glob struct {
	ctx     context.Context
	ws      *workspace.Root
	limit   int
	pattern *splitPattern
	selection
	folders    bool   // match only folders
	display    string // path of the first folder in results
	exclusions *exclusions
	pool       *pool
	// The following fields have one element per worker.
	hits     [][]hit
	minTimes []int64 // older hits cannot be among the results
	totals   []int
	children [][]task // buffer for the folders below the current one
}

func (g *glob) run(ws *workspace.Root, from, real workspace.Path) (hits []hit, total int, err error) {
	dir, err := ws.WithTarget(real.Abs).OpenDir(real)
	if err != nil {
		return nil, 0, access.ReadError(from, err)
	}
	first := &globTask{glob: g, dir: dir, parent: g.display + string(filepath.Separator), progress: g.pattern.start()}
	if g.noIgnored {
		first.rules = parentRules(g.ctx, ws, dir.Abs)
	}
	n := workers()
	g.hits, g.minTimes, g.totals, g.children = make([][]hit, n), make([]int64, n), make([]int, n), make([][]task, n)
	for i := range g.minTimes {
		g.minTimes[i] = math.MinInt64
	}
	g.pool.runAll(first)
	if g.ctx.Err() != nil {
		return nil, 0, toolkit.Failf("cancelled")
	}
	for _, n := range g.totals {
		total += n
	}
	var wg sync.WaitGroup
	for i, list := range g.hits {
		wg.Go(func() { g.hits[i] = newestHits(list, g.limit) })
	}
	wg.Wait()
	return mergeHits(g.hits, g.limit), total, nil
}

// add retains the newest hits of a worker. When twice as many as can be returned have accumulated,
// the older ones are dropped.
func (g *glob) add(worker int, h hit) {
	g.totals[worker]++
	if h.time < g.minTimes[worker] {
		return
	}
	list := append(g.hits[worker], h)
	if len(list) >= 2*g.limit {
		list = newestHits(list, g.limit)
		clear(list[len(list):cap(list)])
		g.minTimes[worker] = list[len(list)-1].time
	}
	g.hits[worker] = list
}

// globTask is a folder to visit.
type globTask struct {
	*glob
	dir  *workspace.Dir // the folder itself, or its parent
	name string         // empty for the folder itself
	// parent is the path of the parent in results, with a trailing separator; for the first folder
	// its own.
	parent   string
	progress progress
	rules    *ignoreRules // of dir
}

func (l *globTask) discard() { l.dir.Release() }

func (l *globTask) run(worker int) {
	dir, rules, folder := l.dir, l.rules, l.parent
	if l.name != "" {
		sub, err := l.dir.Sub(l.name)
		l.dir.Release()
		if err != nil {
			return // skip folders that cannot be read
		}
		dir = sub
		if l.parent == l.dir.Prefix {
			folder = sub.Prefix // no link leads there, so the memory can be reused
		} else {
			folder = l.parent + l.name + string(filepath.Separator)
		}
		if rules != nil {
			rules = rules.below(l.name)
		}
	}
	defer dir.Release()
	if rules != nil {
		rules.addFolder(dir)
	}
	down := l.children[worker][:0]
	seen, excluded := 0, l.exclusions.namesIn(dir.Abs)
	_ = dir.Each(func(e workspace.Entry) bool {
		if seen++; seen%64 == 0 && l.ctx.Err() != nil {
			return false
		}
		if l.excludes(e, rules) {
			return true
		}
		path := func() string { return filepath.ToSlash(folder[len(l.display)+1:] + e.Name) }
		to, match := l.pattern.step(l.progress, e.Name, path)
		if match && (!l.folders || e.IsDir()) {
			if t, err := dir.ModTime(e.Name); err == nil {
				l.add(worker, hit{folder, e.Name, t})
			}
		}
		if e.IsDir() && l.pattern.canDescend(to, path) && !l.ws.Skips(dir, e.Name) {
			if excluded != nil && containsName(excluded, e.Name) {
				l.exclusions.addSkipped(folder + e.Name)
				return true
			}
			dir.Retain()
			down = append(down, &globTask{glob: l.glob, dir: dir, name: e.Name, parent: folder, progress: to, rules: rules})
		}
		return true
	})
	l.pool.push(worker, down...)
	clear(down)
	l.children[worker] = down
}
