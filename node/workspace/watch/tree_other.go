//go:build !windows

package watch

import (
	"io"
	"runtime"
)

// watchesByTree is set on systems without inotify: with kqueue (macOS and the BSDs), every file
// below would have to be open. macOS could report changes in trees by FSEvents, which only C can
// call. There, trees are polled.
const watchesByTree = runtime.GOOS != "linux"

func (w *Watcher) openTree(abs string) (io.Closer, error) { return w.startPolling(abs), nil }
