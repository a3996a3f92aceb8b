package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const nonblock = 0

// keepOwner does nothing: a new file has the owner and access list that its folder hands down.
func keepOwner(*os.File, os.FileInfo) bool { return false }

// links is how many names a file has.
func links(f *os.File) int {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 1
	}
	return int(info.NumberOfLinks)
}

// syncDir does nothing: Windows has no handle of a folder that would do it.
func syncDir(*os.Root) error { return nil }

// inUse reports whether a rename failed because someone else has the file open.
func inUse(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
}

// running reports whether there is a process with this id.
func running(pid int) bool {
	p, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid)) // the right that Fairlead's own programs leave to others
	if err != nil {
		return false
	}
	windows.CloseHandle(p)
	return true
}
