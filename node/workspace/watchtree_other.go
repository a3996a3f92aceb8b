//go:build !windows

package workspace

import (
	"errors"
	"io"
)

// wholeTrees is for systems that tell of all below a folder through one handle. macOS could, with FSEvents, which only C can call.
const wholeTrees = false

func (*Watcher) openTree(string) (io.Closer, error) { return nil, errors.ErrUnsupported }
