//go:build !unix && !windows

package workspace

import "os"

const nonblock = 0

// keepOwner does nothing: a new file has the owner and access list that its folder hands down.
func keepOwner(*os.File, os.FileInfo) bool { return false }

// links cannot be told here.
func links(*os.File) int { return 1 }

// syncDir does nothing: such systems have no handle that would do it.
func syncDir(*os.Root) error { return nil }

// running reports whether there is a process with this id.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	p.Release()
	return true
}

// inUse is for Windows only.
func inUse(error) bool { return false }
