package search

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/toolkit"
	"fairlead/node/workspace"
)

// slots bounds the searches that run at the same time; further ones wait. Each has a few open
// folders and buffers.
var slots = make(chan struct{}, 8)

// searchers is the number of goroutines of a search. They are more than most machines have
// processors, because folders differ in size: with one goroutine for each processor, one of two idled
// a third of the time.
const searchers = 8

// walk visits the folders of a tree, several at the same time.
type walk struct {
	ctx context.Context
	ws  *workspace.Root
	// noHidden skips names that begin with a dot, noIgnored .git and the names matched by
	// .gitignore, .ignore and .git/info/exclude. GSV skips none of them.
	noHidden, noIgnored bool
	noFilled            bool // skips the folders that programs fill; see isFilled
	exclusions          *exclusions
	helpers             chan struct{} // one token for each further goroutine
	running             crash.Group
	failed              atomic.Pointer[error] // of a further goroutine that panicked
}

// startWalk waits until a search may start in a folder or file without symbolic links. The caller
// calls done at the end.
func startWalk(ctx context.Context, ws *workspace.Root, real string, hidden, ignored *bool) (w *walk, done func(), err error) {
	if ctx.Err() == nil {
		select {
		case slots <- struct{}{}:
			return &walk{
				ctx: ctx, ws: ws, noHidden: hidden != nil && !*hidden, noIgnored: ignored != nil && !*ignored, exclusions: newExclusions(ws, real),
				helpers: make(chan struct{}, searchers-1),
			}, func() { <-slots }, nil
		case <-ctx.Done():
		}
	}
	return nil, nil, errCancelled
}

var errCancelled = toolkit.Failf("cancelled")

// spawn runs f on another goroutine if there is a free one, else on this one. So few folders are
// open at a time, and a walk follows the order of names as far as possible.
func (w *walk) spawn(f func()) {
	select {
	case w.helpers <- struct{}{}:
		w.running.Go(func() {
			defer func() { <-w.helpers }()
			if err := crash.Run("search", f); err != nil {
				w.failed.CompareAndSwap(nil, &err)
			}
		})
	default:
		f()
	}
}

// wait waits for the further goroutines, and returns the error of one that panicked.
func (w *walk) wait() error {
	w.running.Wait()
	if err := w.failed.Load(); err != nil {
		return *err
	}
	return nil
}

type folder struct {
	dir     *workspace.Dir
	display string       // its path in results
	rules   *ignoreRules // nil if none apply
	chain   []string     // see folderLink; empty unless it was reached through a link
}

// open opens a folder in which a walk begins. The caller closes it.
func (w *walk) open(display string, real workspace.Path) (folder, error) {
	dir, err := w.ws.WithTarget(real.Abs).OpenDir(real)
	if err != nil {
		return folder{}, err
	}
	f := folder{dir: dir, display: display}
	if w.noIgnored {
		f.rules, _ = parentRules(w.ctx, w.ws, dir.Abs)
		f.rules.addFolder(dir)
	}
	return f, nil
}

// descend visits folders in f, skipping those that cannot be opened. visit closes them.
func (w *walk) descend(f folder, names []string, visit func(folder)) {
	for _, name := range names {
		if w.ctx.Err() != nil {
			return
		}
		dir, err := f.dir.Sub(name)
		if err != nil {
			continue
		}
		sub := folder{dir: dir, display: joinPath(f.display, name), chain: f.chain}
		if f.rules != nil {
			sub.rules = f.rules.below(name)
			sub.rules.addFolder(dir)
		}
		w.spawn(func() { visit(sub) })
	}
}

// each calls visit for the entries of a folder that a search does not skip, until the context ends.
// Entries that were read before an error count.
func (w *walk) each(f folder, visit func(e workspace.Entry, isExcluded bool)) {
	seen, excluded := 0, w.exclusions.namesIn(f.dir.Abs)
	_ = f.dir.Each(func(e workspace.Entry) bool {
		if seen++; seen%64 == 0 && w.ctx.Err() != nil {
			return false
		}
		isSkipped := w.noHidden && e.Name[0] == '.' || w.noIgnored && (e.Name == ".git" || f.rules.excludes(e.Name, e.IsDir())) ||
			w.noFilled && e.IsDir() && isFilled(e.Name)
		if !isSkipped {
			visit(e, len(excluded) > 0 && slices.Contains(excluded, foldName(e.Name)))
		}
		return true
	})
}

func joinPath(folder, name string) string {
	return strings.TrimSuffix(folder, string(filepath.Separator)) + string(filepath.Separator) + name
}
