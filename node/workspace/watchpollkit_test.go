//go:build !windows

package workspace

import (
	"testing"
	"time"
)

// rounds waits until every polled tree was polled from its beginning, and the result is reported.
func (w *Watcher) rounds(t testing.TB) {
	t.Helper()
	before := make(map[*polling]int64)
	w.each(func(p *polling, _ *below) { before[p] = p.rounds.Load() })
	for limit := time.Now().Add(3 * time.Minute); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		open := false
		w.each(func(p *polling, b *below) {
			if n, was := before[p]; was && p.rounds.Load() < n+2 || b.much || len(b.changed) > 0 {
				open = true
			}
		})
		if !open {
			w.trees <- treeNews{} // it is received when no report is in progress
			return
		}
	}
	t.Fatal("the rounds do not go on")
}

// each calls f with the polled trees.
func (w *Watcher) each(f func(*polling, *below)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.dirs {
		if p, ok := d.tree.(*polling); ok {
			f(p, d.below)
		}
	}
}

// bounds limits the number of entries of a polled folder. It returns false if the folder is not
// polled.
func (w *Watcher) bounds(t testing.TB, dir string, most int) bool {
	t.Helper()
	if !w.whole {
		return false
	}
	w.Remove(dir)
	w.most = most
	w.looksAt(t, dir)
	return true
}
