//go:build !windows

package watch

import (
	"testing"
	"time"
)

// rounds waits until every polled tree was polled from its beginning, and the result is reported.
func (w *Watcher) rounds(t testing.TB) {
	t.Helper()
	before := make(map[*poller]int64)
	w.each(func(p *poller, _ *treeChanges) { before[p] = p.rounds.Load() })
	for limit := time.Now().Add(3 * time.Minute); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		open := false
		w.each(func(p *poller, b *treeChanges) {
			if n, was := before[p]; was && p.rounds.Load() < n+2 || b.overflow || len(b.changed) > 0 {
				open = true
			}
		})
		if !open {
			w.treeReports <- treeReport{} // it is received when no report is in progress
			return
		}
	}
	t.Fatal("the rounds do not go on")
}

// each calls f with the polled trees.
func (w *Watcher) each(f func(*poller, *treeChanges)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.folders {
		if p, ok := d.treeCloser.(*poller); ok {
			f(p, d.tree)
		}
	}
}

// bounds limits the number of entries of a polled folder. It returns false if the folder is not
// polled.
func (w *Watcher) bounds(t testing.TB, dir string, most int) bool {
	t.Helper()
	if !w.byTree {
		return false
	}
	w.Remove(dir)
	w.maxPollEntries = most
	w.looksAt(t, dir)
	return true
}
