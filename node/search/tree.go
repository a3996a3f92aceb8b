package search

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fairlead/node/workspace"
)

// batchSize is the number of files of a folder that one goroutine searches before others can help.
const batchSize = 64

// grep searches the files of a tree.
type grep struct {
	ctx context.Context
	ws  *workspace.Root
	*matcher
	lineOptions
	selection
	names      *nameMatcher
	top        topResults
	exclusions *exclusions
	lines      bool // lines are requested, not files
	// outside says that the search began outside the workspace; one that began and was allowed
	// inside stays inside.
	outside bool
	pool    *pool

	mu       sync.Mutex // guards the fields below
	scanners []*scanner
	links    []folderLink    // to folders, which are searched after everything else
	visited  map[string]bool // real folders that were searched through a link
}

func (g *grep) scanner(worker int) *scanner {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.scanners) <= worker {
		g.scanners = append(g.scanners, nil)
	}
	if g.scanners[worker] == nil {
		g.scanners[worker] = newScanner(g.ctx, g.matcher, g.lineOptions)
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
	r := fileResult{path: joinPath(in, name), fileMatches: found}
	switch {
	case g.lines:
		r.weight = len(r.matches)
	default:
		r.weight = 1
	}
	g.top.add(r)
}

// folder searches everything below base. Links to folders are followed last and in the order of
// their names, and each folder at most once. So the result does not depend on which worker was
// faster, and cycles of links end.
func (g *grep) folder(base, real workspace.Path) {
	dir, err := g.ws.WithTarget(real.Abs).OpenDir(real)
	if err != nil {
		return
	}
	var rules *ignoreRules
	if g.noIgnored {
		rules = parentRules(g.ctx, g.ws, dir.Abs)
	}
	g.walk(&folderTask{grep: g, dir: dir, display: base.Abs, rules: rules})
	for len(g.links) > 0 && g.ctx.Err() == nil {
		round := g.links
		g.links = nil
		slices.SortFunc(round, func(a, b folderLink) int { return comparePaths(a.display, b.display) })
		for _, l := range round {
			if g.ctx.Err() != nil || g.top.isBeyond(l.display) || g.visited[l.target.Abs] {
				continue
			}
			if dir, err := g.ws.WithTarget(l.target.Abs).OpenDir(l.target); err == nil {
				if g.noIgnored {
					rules = parentRules(g.ctx, g.ws, dir.Abs)
				}
				g.walk(&folderTask{grep: g, dir: dir, display: l.display, linkChain: l.chain, rules: rules})
			}
		}
	}
}

func (g *grep) walk(first *folderTask) {
	g.pool = newPool(g.ctx, true)
	g.pool.runAll(first)
}

// folderTask is a folder whose files are to be searched, and those below it.
type folderTask struct {
	*grep
	dir       *workspace.Dir // the folder itself, or its parent
	name      string         // empty for the folder itself
	display   string         // its path in results
	linkChain []string       // see linked; empty unless it was reached through a link
	rules     *ignoreRules   // of dir
}

func (b *folderTask) discard() { b.dir.Release() }

func (b *folderTask) run(worker int) {
	if b.top.isBeyond(b.display) {
		b.discard()
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
		rules.addFolder(dir)
	}
	if b.linkChain != nil && !b.markVisited(dir.Abs) {
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
		tasks = append(tasks, &folderTask{grep: b.grep, dir: dir, name: name, display: b.displayPath(name), linkChain: b.linkChain, rules: rules})
	}
	for end := len(files); end > batchSize; {
		start := (end - 1) / batchSize * batchSize
		dir.Retain()
		tasks = append(tasks, &fileTask{folderTask: b, dir: dir, names: files[start:end]})
		end = start
	}
	b.pool.push(worker, tasks...)
	s := b.scanner(worker)
	b.search(s, dir, files[:min(batchSize, len(files))])
	for _, name := range links {
		b.followLink(s, dir, name)
	}
}

func (b *folderTask) list(dir *workspace.Dir, rules *ignoreRules) (files, folders, links []string) {
	seen, excluded := 0, b.exclusions.namesIn(dir.Abs)
	// Entries that were read before an error are searched.
	_ = dir.Each(func(e workspace.Entry) bool {
		if seen++; seen%1024 == 0 && b.ctx.Err() != nil {
			return false
		}
		switch {
		case b.excludes(e, rules):
		case excluded != nil && containsName(excluded, e.Name):
			if e.Type != 0 || b.names.match(e.Name) {
				b.exclusions.addSkipped(b.displayPath(e.Name))
			}
		case e.IsDir():
			if b.ws.Skips(dir, e.Name) {
				break
			}
			folders = append(folders, e.Name)
		case e.IsLink():
			links = append(links, e.Name)
		case e.Type == 0 && b.names.match(e.Name):
			if b.exclusions.isExcludedName(e.Name) {
				b.exclusions.addSkipped(b.displayPath(e.Name))
				break
			}
			files = append(files, e.Name)
		}
		return true
	})
	return files, folders, links
}

func (b *folderTask) displayPath(name string) string { return joinPath(b.display, name) }

// joinPath returns the path of name in a folder.
func joinPath(folder, name string) string {
	return strings.TrimSuffix(folder, string(filepath.Separator)) + string(filepath.Separator) + name
}

func (b *folderTask) search(s *scanner, dir *workspace.Dir, names []string) {
	for _, name := range names {
		if b.ctx.Err() != nil || b.top.isFull() && b.top.isBeyond(b.displayPath(name)) {
			return
		}
		if f, err := dir.Open(name); err == nil {
			b.scan(s, f, b.display, name)
		}
	}
}

// fileTask are some of a folder's many files.
type fileTask struct {
	*folderTask
	dir   *workspace.Dir
	names []string
}

func (l *fileTask) discard() { l.dir.Release() }

func (l *fileTask) run(worker int) {
	defer l.dir.Release()
	l.search(l.scanner(worker), l.dir, l.names)
}
