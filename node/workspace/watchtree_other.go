//go:build !windows

package workspace

import (
	"io"
	"runtime"
)

// wholeTrees is for systems without inotify: with kqueue, as macOS and the BSDs have it, every file below would be held open. macOS could tell of all
// below by FSEvents, which only C can call. There what is below is looked through again and again.
const wholeTrees = runtime.GOOS != "linux"

func (w *Watcher) openTree(abs string) (io.Closer, error) { return w.poll(abs), nil }
