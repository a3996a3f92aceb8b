package tools

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/tool"
	"fairlead/node/workspace"
)

const (
	maxMatches = 100 // seed 000, Grep
	maxLine    = 200 // characters of a matching line
	// ahead is how many files may be searched before an earlier one is done.
	ahead = 128
)

type grepIn struct {
	Pattern string `json:"pattern" jsonschema:"regular expression (RE2 syntax), matched line by line"`
	Path    string `json:"path,omitempty" jsonschema:"folder or file to search in; relative to the workspace; default the workspace"`
	Include string `json:"include,omitempty" jsonschema:"glob for file names, such as *.md or *.{go,mod}; compared with the name only, not the folder"`
}

type grepMatch struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Content string `json:"content"`
}

type grepOut struct {
	Pattern   string      `json:"pattern"`
	BasePath  string      `json:"basePath"`
	Matches   []grepMatch `json:"matches"`
	Count     *int        `json:"count,omitempty"`
	Truncated bool        `json:"truncated,omitempty"`
}

func grepTool(ws *workspace.Root) tool.Tool {
	caps := []string{protocol.CapRead, protocol.CapSearch}
	t := tool.Define("Grep", doc("grep"), tool.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: caps},
		func(ctx context.Context, in grepIn) (grepOut, error) { return runGrep(ctx, ws, in) })
	return tool.WithPreview(t, func(_ context.Context, in grepIn) (protocol.CallPreview, error) { return previewPath(ws, in.Path), nil })
}

func runGrep(ctx context.Context, ws *workspace.Root, in grepIn) (grepOut, error) {
	m, err := newMatcher(in.Pattern)
	if err != nil {
		return grepOut{}, err
	}
	if in.Include != "" && !doublestar.ValidatePattern(in.Include) {
		return grepOut{}, failf("Invalid include pattern: %s", in.Include)
	}
	base, err := ws.Resolve(in.Path)
	if err != nil {
		return grepOut{}, err
	}
	real, info, err := ws.Target(base)
	if err != nil {
		return grepOut{}, readError(base, err)
	}
	out := grepOut{Pattern: in.Pattern, BasePath: base.Abs, Matches: []grepMatch{}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	files := make(chan *candidate, ahead) // in order, to be collected
	work := make(chan *candidate, ahead)  // the same, to be searched
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	wg.Go(func() {
		defer close(files)
		defer close(work)
		f := finder{ctx: ctx, ws: ws, include: in.Include, files: files, work: work, outside: real.Outside}
		f.run(base, info)
	})
	for range workers() {
		wg.Go(func() {
			s := searcher{matcher: m}
			for c := range work {
				c.matches = c.search(ctx, &s)
				close(c.done)
			}
		})
	}
	for c := range files {
		select {
		case <-c.done:
		case <-ctx.Done():
			return grepOut{}, failf("cancelled")
		}
		for _, match := range c.matches {
			// As in the original, the hundredth match ends the search: whether there are more is not known.
			if out.Matches = append(out.Matches, match); len(out.Matches) == maxMatches {
				out.Truncated = true
				return out, nil
			}
		}
	}
	if ctx.Err() != nil {
		return grepOut{}, failf("cancelled")
	}
	n := len(out.Matches)
	out.Count = &n
	return out, nil
}

// candidate is a file to be searched.
type candidate struct {
	shown   string // path in results
	open    func() (*os.File, fs.FileInfo, error)
	release func()
	done    chan struct{} // closed when matches is set
	matches []grepMatch
}

func (c *candidate) search(ctx context.Context, s *searcher) []grepMatch {
	defer c.release()
	if ctx.Err() != nil {
		return nil
	}
	f, _, err := c.open()
	if err != nil {
		return nil
	}
	defer f.Close()
	return s.search(ctx, f, c.shown)
}

// finder walks in order of names and sends the files on.
type finder struct {
	ctx     context.Context
	ws      *workspace.Root
	include string
	files   chan<- *candidate
	work    chan<- *candidate
	outside bool            // the search began outside the workspace; one that began inside, and was allowed as such, stays there
	linked  map[string]bool // real folders that were entered through a link
}

func (f *finder) run(base workspace.Path, info fs.FileInfo) {
	if !info.IsDir() {
		if f.wanted(filepath.Base(base.Abs)) {
			f.send(&candidate{shown: base.Abs, open: func() (*os.File, fs.FileInfo, error) { return f.ws.Open(base) }, release: func() {}})
		}
		return
	}
	dir, err := f.ws.OpenDir(base)
	if err != nil {
		return
	}
	f.linked = map[string]bool{}
	f.folder(dir, base.Abs, []string{dir.Abs}, false)
}

func (f *finder) wanted(name string) bool {
	return f.include == "" || doublestar.MatchUnvalidated(f.include, name)
}

// send reports false when nobody waits any more.
func (f *finder) send(c *candidate) bool {
	c.done = make(chan struct{})
	select {
	case f.files <- c:
	case <-f.ctx.Done():
		c.release()
		return false
	}
	select {
	case f.work <- c:
		return true
	case <-f.ctx.Done():
		c.release()
		return false
	}
}

// folder sends the files of dir and below, and lets go of dir. shown is its path in results, chain the real paths of the folders that lead to it, viaLink whether
// one of them was a link. Folders that cannot be read are left out.
func (f *finder) folder(dir *workspace.Dir, shown string, chain []string, viaLink bool) bool {
	defer dir.Release()
	if viaLink {
		if f.linked[dir.Abs] {
			return true
		}
		f.linked[dir.Abs] = true
	}
	entries, err := dir.Entries(true)
	if err != nil {
		return f.ctx.Err() == nil
	}
	for _, e := range entries {
		name := e.Name()
		at := filepath.Join(shown, name)
		going := true
		switch t := e.Type(); {
		case t.IsDir():
			if name == ".git" {
				continue
			}
			if sub, err := dir.Sub(name); err == nil {
				going = f.folder(sub, at, append(chain[:len(chain):len(chain)], sub.Abs), viaLink)
			}
		case t&fs.ModeSymlink != 0:
			going = f.link(workspace.Path{Abs: filepath.Join(dir.Abs, name)}, at, name, chain)
		case t.IsRegular() && f.wanted(name):
			dir.Retain()
			going = f.send(&candidate{shown: at, release: dir.Release,
				open: func() (*os.File, fs.FileInfo, error) { return dir.Open(name) }})
		}
		if !going || f.ctx.Err() != nil {
			return false
		}
	}
	return true
}

// link follows a symbolic link that stays where file tools may go. A folder that leads to itself is not entered again, and through links each
// folder is searched once at most, so no arrangement of links goes on for ever.
func (f *finder) link(p workspace.Path, shown, name string, chain []string) bool {
	real, info, err := f.ws.Target(p)
	if err != nil || real.Outside && !f.outside {
		return true
	}
	if info.Mode().IsRegular() && f.wanted(name) {
		return f.send(&candidate{shown: shown, release: func() {},
			open: func() (*os.File, fs.FileInfo, error) { return f.ws.Open(real) }})
	}
	if !info.IsDir() {
		return true
	}
	for _, above := range chain {
		if above == real.Abs || strings.HasPrefix(above, real.Abs+string(os.PathSeparator)) {
			return true
		}
	}
	dir, err := f.ws.OpenDir(real)
	if err != nil {
		return true
	}
	return f.folder(dir, shown, append(chain[:len(chain):len(chain)], dir.Abs), true)
}
