package search

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fairlead/node/workspace"
)

// batch is the number of files of a folder that one goroutine searches before others can help.
const batch = 64

// grep searches the files of a tree.
type grep struct {
	ctx context.Context
	ws  *workspace.Root
	*matcher
	wanted
	selection
	names *names
	best  best
	shun  *shunned
	lines bool // lines are requested, not files
	// outside says that the search began outside the workspace; one that began and was allowed
	// inside stays inside.
	outside bool
	crew    *crew

	mu       sync.Mutex // guards the fields below
	scanners []*scanner
	links    []linked        // to folders, which are searched after everything else
	linked   map[string]bool // real folders that were searched through a link
}

func (g *grep) scanner(worker int) *scanner {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.scanners) <= worker {
		g.scanners = append(g.scanners, nil)
	}
	if g.scanners[worker] == nil {
		g.scanners[worker] = newScanner(g.ctx, g.matcher, g.wanted)
	}
	return g.scanners[worker]
}

// scan searches a file of the folder with the path in and closes it. Most files have no match and
// need no path.
func (g *grep) scan(s *scanner, f workspace.Content, in, name string) {
	defer f.Close()
	found := s.scan(f, f.Size)
	if found.count == 0 {
		return
	}
	r := result{path: under(in, name), found: found}
	switch {
	case g.lines:
		r.weight = len(r.matches)
	default:
		r.weight = 1
	}
	g.best.add(r)
}

// folder searches everything below base. Links to folders are followed last and in the order of
// their names, and each folder at most once. So the result does not depend on which worker was
// faster, and cycles of links end.
func (g *grep) folder(base, real workspace.Path) {
	dir, err := g.ws.Bound(real.Abs).OpenDir(real)
	if err != nil {
		return
	}
	var rules *ignores
	if g.noIgnored {
		rules = ignoresAbove(g.ctx, g.ws, dir.Abs)
	}
	g.walk(&branch{grep: g, dir: dir, shown: base.Abs, rules: rules})
	for len(g.links) > 0 && g.ctx.Err() == nil {
		round := g.links
		g.links = nil
		slices.SortFunc(round, func(a, b linked) int { return comparePaths(a.shown, b.shown) })
		for _, l := range round {
			if g.ctx.Err() != nil || g.best.late(l.shown) || g.linked[l.to.Abs] {
				continue
			}
			if dir, err := g.ws.Bound(l.to.Abs).OpenDir(l.to); err == nil {
				if g.noIgnored {
					rules = ignoresAbove(g.ctx, g.ws, dir.Abs)
				}
				g.walk(&branch{grep: g, dir: dir, shown: l.shown, chain: l.chain, rules: rules})
			}
		}
	}
}

func (g *grep) walk(first *branch) {
	g.crew = newCrew(g.ctx, true)
	g.crew.runAll(first)
}

// branch is a folder whose files are to be searched, and those below it.
type branch struct {
	*grep
	dir   *workspace.Dir // the folder itself, or its parent
	name  string         // empty for the folder itself
	shown string         // its path in results
	chain []string       // see linked; empty unless it was reached through a link
	rules *ignores       // of dir
}

func (b *branch) drop() { b.dir.Release() }

func (b *branch) run(worker int) {
	if b.best.late(b.shown) {
		b.drop()
		return
	}
	dir, rules := b.dir, b.rules
	if b.name != "" {
		sub, err := b.dir.Sub(b.name)
		b.dir.Release()
		if err != nil {
			return
		}
		dir = sub
		if rules != nil {
			rules = rules.below(b.name)
		}
	}
	defer dir.Release()
	if rules != nil {
		rules.read(dir)
	}
	if b.chain != nil && !b.enterLinked(dir.Abs) {
		return
	}
	files, folders, links := b.list(dir, rules)
	if b.ctx.Err() != nil {
		return
	}
	slices.Sort(files)
	slices.Sort(folders)
	var tasks []task
	for _, name := range slices.Backward(folders) {
		dir.Retain()
		tasks = append(tasks, &branch{grep: b.grep, dir: dir, name: name, shown: b.under(name), chain: b.chain, rules: rules})
	}
	for end := len(files); end > batch; {
		start := (end - 1) / batch * batch
		dir.Retain()
		tasks = append(tasks, &leaves{branch: b, dir: dir, names: files[start:end]})
		end = start
	}
	b.crew.push(worker, tasks...)
	s := b.scanner(worker)
	b.search(s, dir, files[:min(batch, len(files))])
	for _, name := range links {
		b.link(s, dir, name)
	}
}

func (b *branch) list(dir *workspace.Dir, rules *ignores) (files, folders, links []string) {
	seen, shunned := 0, b.shun.names(dir.Abs)
	// Entries that were read before an error are searched.
	_ = dir.Each(func(e workspace.Entry) bool {
		if seen++; seen%1024 == 0 && b.ctx.Err() != nil {
			return false
		}
		switch {
		case b.leaves(e, rules):
		case shunned != nil && among(shunned, e.Name):
			if e.Type != 0 || b.names.match(e.Name) {
				b.shun.meet(b.under(e.Name))
			}
		case e.IsDir():
			if b.ws.Skips(dir, e.Name) {
				break
			}
			folders = append(folders, e.Name)
		case e.IsLink():
			links = append(links, e.Name)
		case e.Type == 0 && b.names.match(e.Name):
			if b.shun.name(e.Name) {
				b.shun.meet(b.under(e.Name))
				break
			}
			files = append(files, e.Name)
		}
		return true
	})
	return files, folders, links
}

func (b *branch) under(name string) string { return under(b.shown, name) }

// under returns the path of name in a folder.
func under(folder, name string) string {
	return strings.TrimSuffix(folder, string(filepath.Separator)) + string(filepath.Separator) + name
}

func (b *branch) search(s *scanner, dir *workspace.Dir, names []string) {
	for _, name := range names {
		if b.ctx.Err() != nil || b.best.full() && b.best.late(b.under(name)) {
			return
		}
		if f, err := dir.Open(name); err == nil {
			b.scan(s, f, b.shown, name)
		}
	}
}

// leaves are some of a folder's many files.
type leaves struct {
	*branch
	dir   *workspace.Dir
	names []string
}

func (l *leaves) drop() { l.dir.Release() }

func (l *leaves) run(worker int) {
	defer l.dir.Release()
	l.search(l.scanner(worker), l.dir, l.names)
}
