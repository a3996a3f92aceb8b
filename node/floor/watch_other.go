//go:build !linux

package floor

// watcher watches nothing: other systems report changes late, or need an open file for each.
type watcher struct{}

type watchState struct{ changes, losses int }

func newWatcher() *watcher { return nil }

func (*watcher) close() {}

func (*watcher) current() watchState { return watchState{} }

func (*watcher) update(func(dir, name string)) {}

func (*watcher) add(*folder) {}

func (*watcher) remove(*folder) {}
