package search

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"fairlead/gateway/peer/crash"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// batchSize is the number of files of a folder that one goroutine searches before others can help.
const batchSize = 64

// grep is a running search for lines.
type grep struct {
	lineQuery
	*walk
	// real is where base leads. A search that begins in the workspace stays inside.
	real     workspace.Path
	isFolder bool
	top      topResults
	emit     func(path string, found []grepMatch) // set for a search that streams; may be called by many goroutines
	scanners sync.Pool                            // of *scanner

	mu         sync.Mutex      // guards the fields below
	links      []folderLink    // to folders, which are searched after everything else
	visited    map[string]bool // real folders that were searched through a link
	unreadable error           // why the folder base could not be opened
}

type folderLink struct {
	display string
	target  workspace.Path
	chain   []string // the real folders that contain the links on the way to this link, and its own
}

// tree searches everything below base. Links to folders are followed last and in the order of
// their names, and each folder at most once. So the result does not depend on which goroutine was
// faster, and cycles of links end. Folders that cannot be opened are skipped. The error is that of
// a goroutine that panicked.
func (g *grep) tree() error {
	g.links = []folderLink{{display: g.base.Abs, target: g.real}}
	for len(g.links) > 0 && g.ctx.Err() == nil {
		round := g.links
		g.links = nil
		slices.SortFunc(round, func(a, b folderLink) int { return comparePaths(a.display, b.display) })
		for _, l := range round {
			if g.ctx.Err() != nil || g.top.isBeyond(l.display) || g.visited[l.target.Abs] {
				continue
			}
			f, problem := g.open(l.display, l.target)
			switch {
			case problem == nil:
				f.chain = l.chain
				g.folder(f)
				if err := g.wait(); err != nil {
					return err
				}
			case l.display == g.base.Abs:
				g.unreadable = access.ReadError(g.base, problem)
			}
		}
	}
	return nil
}

// folder searches a folder and those below it, and closes it.
func (g *grep) folder(f folder) {
	defer f.dir.Close()
	if g.top.isBeyond(f.display) || f.chain != nil && !g.markVisited(f.dir.Abs) {
		return
	}
	files, folders, links := g.list(f)
	slices.Sort(files)
	slices.Sort(folders)
	var batches crash.Group
	for ; len(files) > batchSize; files = files[batchSize:] {
		names := files[:batchSize]
		batches.Add(1)
		g.spawn(func() {
			defer batches.Done()
			g.search(f, names)
		})
	}
	g.search(f, files)
	for _, name := range links {
		g.followLink(f, name)
	}
	g.descend(f, folders, g.folder)
	batches.Wait()
}

func (g *grep) markVisited(abs string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.visited[abs] {
		return false
	}
	g.visited[abs] = true
	return true
}

func (g *grep) list(f folder) (files, folders, links []string) {
	g.each(f, func(e workspace.Entry, isExcluded bool) {
		switch {
		case isExcluded:
			if e.Type != 0 || matchName(g.include, e.Name) {
				g.exclusions.addSkipped(joinPath(f.display, e.Name))
			}
		case e.IsDir():
			if !g.ws.Skips(f.dir, e.Name) {
				folders = append(folders, e.Name)
			}
		case e.IsLink():
			links = append(links, e.Name)
		case e.Type == 0 && matchName(g.include, e.Name):
			if g.exclusions.isExcludedName(e.Name) {
				g.exclusions.addSkipped(joinPath(f.display, e.Name))
				return
			}
			files = append(files, e.Name)
		}
	})
	return files, folders, links
}

func (g *grep) search(f folder, names []string) {
	for _, name := range names {
		if g.ctx.Err() != nil || g.top.isFull() && g.top.isBeyond(joinPath(f.display, name)) {
			return
		}
		if file, err := f.dir.Open(name); err == nil {
			g.scan(file, f.display, name)
		}
	}
}

// scan searches a file of the folder with the path in and closes it. It reports whether the file was
// skipped.
func (g *grep) scan(f workspace.Content, in, name string) (skipped bool) {
	defer f.Close()
	s := g.scanners.Get().(*scanner)
	defer g.scanners.Put(s)
	found := s.scan(f, f.Size)
	if found.count == 0 {
		return found.isSkipped
	}
	if g.emit != nil {
		g.emit(joinPath(in, name), found.matches)
		return false
	}
	r := fileResult{path: joinPath(in, name), fileMatches: found, weight: 1}
	if g.lines {
		r.weight = len(r.matches)
	}
	g.top.add(r)
	return false
}

// followLink searches the target file of a symbolic link if file tools may access it, or records a
// target folder for later. A folder that contains itself through a link is skipped.
func (g *grep) followLink(f folder, name string) {
	shown := joinPath(f.display, name)
	if g.ctx.Err() != nil || g.top.isBeyond(shown) {
		return
	}
	real, info, err := g.ws.Target(workspace.Path{Abs: filepath.Join(f.dir.Abs, name)})
	if err != nil || real.Outside && !g.real.Outside {
		return
	}
	if g.exclusions.excludes(real.Abs) {
		if info.IsDir() || matchName(g.include, name) {
			g.exclusions.addSkipped(shown)
		}
		return
	}
	if info.Mode().IsRegular() && matchName(g.include, name) {
		if file, err := g.ws.WithTarget(real.Abs).Content(real); err == nil {
			g.scan(file, f.display, name)
		}
	}
	if !info.IsDir() {
		return
	}
	chain := append(slices.Clone(f.chain), f.dir.Abs)
	for _, above := range chain {
		if above == real.Abs || strings.HasPrefix(above, strings.TrimSuffix(real.Abs, string(filepath.Separator))+string(filepath.Separator)) {
			return
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.links = append(g.links, folderLink{display: shown, target: real, chain: chain})
}

// topResults retains the results of the first files in the order of their paths, up to a limit.
// Files are searched in any order; files after the last one that counts need not be searched at
// all.
type topResults struct {
	limit int
	last  atomic.Pointer[string] // the last path that counts; nil while the limit is not reached

	mu    sync.Mutex // guards the fields below
	files []fileResult
	total int // sum of the weights
}

type fileResult struct {
	path string
	fileMatches
	weight int // its share of the limit
}

// isFull reports whether the limit is reached, in whichever files.
func (b *topResults) isFull() bool { return b.last.Load() != nil }

// isBeyond reports whether results in path, or below it, cannot count any more.
func (b *topResults) isBeyond(path string) bool {
	cut := b.last.Load()
	return cut != nil && comparePaths(path, *cut) > 0
}

// add adds the result of a file. It is called once per file.
func (b *topResults) add(r fileResult) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isBeyond(r.path) {
		return
	}
	at, _ := slices.BinarySearchFunc(b.files, r.path, func(have fileResult, path string) int { return comparePaths(have.path, path) })
	b.files = slices.Insert(b.files, at, r)
	b.total += r.weight
	for {
		last := b.files[len(b.files)-1]
		if b.total-last.weight < b.limit {
			break
		}
		b.files = b.files[:len(b.files)-1]
		b.total -= last.weight
	}
	if b.total >= b.limit {
		last := b.files[len(b.files)-1].path
		b.last.Store(&last)
	}
}

// comparePaths orders paths as a walk visits them: the content of a folder comes before names that
// begin with the folder's name.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if x, y := a[i], b[i]; x != y {
			if isSeparator(x) {
				return -1
			}
			if isSeparator(y) {
				return 1
			}
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}
