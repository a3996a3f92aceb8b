package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// the time from a change to its report: editors write a file in several steps
	settleTime = 200 * time.Millisecond
	// maxWatched is the limit of watched folders.
	maxWatched = 4000
)

// Watch reports changes in the workspaces and the shared skills until ctx ends: it calls ready once
// every change will be seen, and changed with sorted paths in the data folder, from one goroutine.
// It blocks; an error means that nothing is watched any more.
func (w *Files) Watch(ctx context.Context, ready func(), changed func(paths []string)) error {
	n, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the workspaces: %w", err)
	}
	defer n.Close()
	v := &watcher{home: w.home, notify: n, dirty: make(map[string]bool)}
	for _, dir := range []string{"agents", "skills"} {
		if err := os.MkdirAll(filepath.Join(w.home, dir), 0o700); err != nil {
			return fmt.Errorf("watch the workspaces: %w", err)
		}
		if err := v.add(filepath.Join(w.home, dir), false); err != nil {
			return fmt.Errorf("watch the workspaces: %w", err)
		}
	}
	ready()
	return v.run(ctx, changed)
}

type watcher struct {
	home   string
	notify *fsnotify.Watcher
	dirty  map[string]bool
}

// add watches a folder and those below it, and may report the existing files as changed.
func (v *watcher) add(dir string, reportExisting bool) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fs.SkipDir
		}
		if reportExisting {
			v.markChanged(name)
		}
		if !d.IsDir() {
			return nil
		}
		if v.isSessionArchive(name) {
			return fs.SkipDir
		}
		if len(v.notify.WatchList()) >= maxWatched {
			return fs.SkipAll
		}
		if err := v.notify.Add(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// isSessionArchive reports whether a folder contains an agent's sessions: nobody edits those, and
// macOS would use a file descriptor for each of very many.
func (v *watcher) isSessionArchive(dir string) bool {
	rel, err := filepath.Rel(v.home, dir)
	parts := strings.Split(filepath.ToSlash(rel), "/")
	return err == nil && len(parts) == 3 && parts[0] == "agents" && parts[2] == "sessions"
}

func (v *watcher) markChanged(name string) {
	rel, err := filepath.Rel(v.home, name)
	if err != nil || strings.HasPrefix(filepath.Base(name), ".fairlead-") {
		return
	}
	v.dirty[filepath.ToSlash(rel)] = true
}

func (v *watcher) run(ctx context.Context, changed func([]string)) error {
	var report <-chan time.Time // nil if nothing has changed
	for {
		if report == nil && len(v.dirty) > 0 {
			report = time.After(settleTime)
		}
		select {
		case <-ctx.Done():
			return nil
		case err := <-v.notify.Errors:
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				v.dirty["skills"], v.dirty["agents"] = true, true // anything may have changed
				continue
			}
			return fmt.Errorf("watch the workspaces: %w", err)
		case e := <-v.notify.Events:
			if e.Op == fsnotify.Chmod {
				continue
			}
			v.markChanged(e.Name)
			if e.Has(fsnotify.Create) {
				if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
					if err := v.add(e.Name, true); err != nil {
						return fmt.Errorf("watch the workspaces: %w", err)
					}
				}
			}
			if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
				v.recreate(e.Name)
			}
		case <-report:
			paths := slices.Sorted(maps.Keys(v.dirty))
			clear(v.dirty)
			report = nil
			changed(paths)
		}
	}
}

// recreate creates one of the two top folders again after it was removed.
func (v *watcher) recreate(name string) {
	if filepath.Dir(name) != filepath.Clean(v.home) {
		return
	}
	if err := os.MkdirAll(name, 0o700); err == nil {
		v.notify.Add(name)
	}
}
