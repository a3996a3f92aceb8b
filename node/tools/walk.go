package tools

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"runtime"
	"sync"

	"fairlead/node/workspace"
)

// visitor is told of every folder of a walk.
type visitor interface {
	begin(workers int)
	// visit is called from several goroutines at once, each with its own number; it returns the folders to descend into.
	visit(worker int, dir *workspace.Dir, rel string, entries []fs.DirEntry) (down []string)
	end()
}

// workers is how many goroutines look at files at once.
func workers() int { return max(2, min(runtime.GOMAXPROCS(0), 8)) }

// walk visits all folders below start in no particular order, without following links. Folders that cannot be read are left out, but for the first.
func walk(ctx context.Context, ws *workspace.Root, start workspace.Path, v visitor) error {
	first, err := ws.OpenDir(start)
	if err != nil {
		return readError(start, err)
	}
	first.Release()
	w := &walker{ctx: ctx, ws: ws, start: start, todo: []string{""}, open: 1}
	w.wake.L = &w.mu
	stop := context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wake.Broadcast()
	})
	defer stop()
	n := workers()
	v.begin(n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { w.work(i, v) })
	}
	wg.Wait()
	v.end()
	if err := ctx.Err(); err != nil {
		return failf("cancelled")
	}
	return nil
}

type walker struct {
	ctx   context.Context
	ws    *workspace.Root
	start workspace.Path

	mu   sync.Mutex // guards what follows
	wake sync.Cond
	todo []string // folders below start, with slashes
	open int      // folders that are to do or being done
}

func (w *walker) work(worker int, v visitor) {
	for {
		w.mu.Lock()
		for len(w.todo) == 0 && w.open > 0 && w.ctx.Err() == nil {
			w.wake.Wait()
		}
		if len(w.todo) == 0 || w.ctx.Err() != nil {
			w.mu.Unlock()
			return
		}
		rel := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.mu.Unlock()

		down := w.visit(worker, v, rel)

		w.mu.Lock()
		for _, name := range down {
			w.todo = append(w.todo, path.Join(rel, name))
		}
		w.open += len(down) - 1
		w.wake.Broadcast()
		w.mu.Unlock()
	}
}

func (w *walker) visit(worker int, v visitor, rel string) []string {
	at := workspace.Path{Abs: filepath.Join(w.start.Abs, filepath.FromSlash(rel)), Outside: w.start.Outside}
	dir, err := w.ws.OpenDir(at)
	if err != nil {
		return nil
	}
	defer dir.Release()
	entries, err := dir.Entries(false)
	if err != nil {
		return nil
	}
	return v.visit(worker, dir, rel, entries)
}
