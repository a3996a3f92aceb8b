//go:build !linux && !darwin && !freebsd

package floor

import (
	"io/fs"
	"time"
)

// ChangeTime returns when a file or a folder was last modified, which programs can set: ok is false.
func ChangeTime(info fs.FileInfo) (at time.Time, ok bool) { return info.ModTime(), false }
