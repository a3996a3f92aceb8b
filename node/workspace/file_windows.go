package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

const nonblock = 0

// copyOwner does nothing: a new file inherits owner and access list from its folder.
func copyOwner(*os.File, os.FileInfo) bool { return false }

func copyAttributes(f, old *os.File) {}

func links(f *os.File) int {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 1
	}
	return int(info.NumberOfLinks)
}

// inode is not available without opening the file.
func inode(os.FileInfo) uint64 { return 0 }

// syncDir does nothing: Windows cannot sync a folder's handle.
func syncDir(*os.Root) error { return nil }

// isInUse reports whether a rename failed because another program has the file open.
func isInUse(err error) bool {
	return errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
}

// longName returns the name in its folder of an existing file that is requested by a possible short
// name, such as PROGRA~1; else "". Rules and private folders use long names. The file is then
// opened by the long name, so that it is the one that was judged.
func longName(path string) string {
	name := filepath.Base(path)
	if !strings.Contains(name, "~") || len(name) > len("SHORTN~1.EXT") {
		return ""
	}
	in, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return ""
	}
	out := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetLongPathName(in, &out[0], uint32(len(out)))
	if err != nil || n == 0 || int(n) > len(out) {
		return ""
	}
	if long := filepath.Base(windows.UTF16ToString(out[:n])); long != name {
		return long
	}
	return ""
}
