//go:build !unix && !windows

package workspace

import "os"

const nonblock = 0

// keepOwner does nothing: a new file inherits owner and access list from its folder.
func keepOwner(*os.File, os.FileInfo) bool { return false }

// links is not supported here.
func links(*os.File) int { return 1 }

// syncDir does nothing: these systems cannot sync a directory handle.
func syncDir(*os.Root) error { return nil }

// running reports whether there is a process with this ID.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}

// inUse is needed on Windows only.
func inUse(error) bool { return false }
