package search

import (
	"cmp"
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
		access.ForCalls(scope, func(ctx context.Context, ws *workspace.Root, call access.Call, in globIn) (globOut, error) {
			return runGlob(ctx, ws, call.Target, in, maxGlob, nil)
		}))
	return toolkit.WithPreview(t, previewGlob(scope))
}

func previewGlob(scope access.Scope) func(context.Context, access.Call, globIn) (protocol.CallPreview, error) {
	return func(_ context.Context, _ access.Call, in globIn) (protocol.CallPreview, error) {
		start, _ := globStart(in)
		start = workspace.Spell(start)
		need := start
		if p, _ := scope.Root.Resolve(in.Path); p.Outside {
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
				access.SetProblem(&preview, nil)
			}
			return preview, nil
		})
	}
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

// runGlob finds the newest files, at most limit. If emit is not nil, it gets the first matches that
// are found, at most limit; many goroutines may call it.
func runGlob(ctx context.Context, ws *workspace.Root, target string, in globIn, limit int, emit func(path string)) (globOut, error) {
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
		return out, access.MissingError(ws, base, err)
	} else if !info.IsDir() {
		return out, toolkit.Failf("'%s' is not a folder", base)
	}
	real, info, err := ws.WithTarget(workspace.Unspell(target)).Target(from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && !info.IsDir() {
		return out, nil
	}
	if err != nil {
		return out, access.ReadError(from, err)
	}
	walk, done, err := startWalk(ctx, ws, real.Abs, in.Hidden, in.Ignored)
	if err != nil {
		return out, err
	}
	defer done()
	display := strings.TrimSuffix(from.Abs, string(filepath.Separator))
	g := &glob{
		walk: walk, limit: limit, matches: pathMatcher(pattern), depth: strings.Count(pattern, "/"), folders: folders, prefix: len(display) + 1, emit: emit,
	}
	if strings.Contains(pattern, "**") {
		g.depth = math.MaxInt
	}
	err = g.run(display, from, real, &out)
	return out, err
}

type glob struct {
	*walk
	limit   int
	matches func(folder, name string) bool // see pathMatcher
	depth   int                            // maximum number of slashes in matches
	folders bool                           // match only folders
	prefix  int                            // bytes of a path before the part that is matched
	emit    func(path string)              // of runGlob

	mu    sync.Mutex // guards the fields below
	hits  []hit
	total int
}

// run searches a folder, whose path in results is display.
func (g *glob) run(display string, from, real workspace.Path, out *globOut) error {
	first, err := g.open(display, real)
	if err != nil {
		return access.ReadError(from, err)
	}
	g.folder(first)
	if err := g.wait(); err != nil {
		return err
	}
	if g.ctx.Err() != nil {
		return errCancelled
	}
	g.hits = newestHits(g.hits, g.limit)
	out.Count, out.LeftOut = len(g.hits), g.exclusions.skippedPaths()
	if g.total > len(g.hits) {
		out.Truncated, out.Total = true, g.total
	}
	for _, h := range g.hits {
		out.Matches = append(out.Matches, workspace.Spell(h.path))
	}
	return nil
}

type hit struct {
	path     string
	time     int64 // of the last change, in nanoseconds
	isFolder bool
}

// add retains the newest hits: at twice the limit, the older half is dropped.
func (g *glob) add(h hit) {
	g.mu.Lock()
	g.total++
	isFirst := g.total <= g.limit
	if g.hits = append(g.hits, h); len(g.hits) >= 2*g.limit {
		g.hits = newestHits(g.hits, g.limit)
	}
	g.mu.Unlock()
	if g.emit != nil && isFirst {
		g.emit(h.path)
	}
}

// newestHits sorts hits by time, newest first, then by path, and returns the first ones.
func newestHits(hits []hit, limit int) []hit {
	slices.SortFunc(hits, func(a, b hit) int {
		if c := cmp.Compare(b.time, a.time); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	rest := hits[min(len(hits), limit):]
	clear(rest)
	return hits[:len(hits)-len(rest)]
}

// folder visits a folder and those below it, and closes it.
func (g *glob) folder(f folder) {
	defer f.dir.Close()
	var down []string
	base := joinPath(f.display, "")
	rel := filepath.ToSlash(base[g.prefix:])
	isDeepest := strings.Count(rel, "/") >= g.depth
	g.each(f, func(e workspace.Entry, isExcluded bool) {
		if (!g.folders || e.IsDir()) && g.matches(rel, e.Name) {
			if info, err := f.dir.Info(e.Name); err == nil {
				g.add(hit{base + e.Name, info.Time.UnixNano(), e.IsDir()})
			}
		}
		switch {
		case !e.IsDir() || isDeepest || g.ws.Skips(f.dir, e.Name):
		case isExcluded:
			g.exclusions.addSkipped(base + e.Name)
		default:
			down = append(down, e.Name)
		}
	})
	g.descend(f, down, g.folder)
}
