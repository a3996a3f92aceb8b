//go:build !linux

package floor

import (
	"os"
	"time"
)

// changed returns when the entries of a folder last changed.
func changed(info os.FileInfo) time.Time { return info.ModTime() }
