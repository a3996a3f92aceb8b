//go:build unix

package workspace

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/format"
)

// nonblock keeps open from waiting for the other end of a named pipe.
const nonblock = syscall.O_NONBLOCK

// copyOwner gives f the owner of old where the system permits it, and reports whether f has it:
// only root may give files away.
func copyOwner(f *os.File, old os.FileInfo) bool {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	now, err := f.Stat()
	if err != nil {
		return false
	}
	if is, ok := now.Sys().(*syscall.Stat_t); ok && is.Uid == st.Uid && is.Gid == st.Gid {
		return true
	}
	if f.Chown(int(st.Uid), int(st.Gid)) == nil {
		return true
	}
	f.Chown(-1, int(st.Gid)) // a member of the group may at least set the group
	return false
}

func links(f *os.File) int {
	info, err := f.Stat()
	if err != nil {
		return 1
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// syncDir makes a rename durable. File systems that cannot sync a directory return EINVAL.
func syncDir(dir *os.Root) error {
	d, err := dir.Open(".")
	if err != nil {
		return nil // the folder may be writable and not readable
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return format.WithoutPath(err)
	}
	return nil
}

// isInUse is needed on Windows only.
func isInUse(error) bool { return false }

// longName is needed on Windows only: other systems do not generate further names of files.
func longName(string) string { return "" }

// maxAttributes bounds the list of names and each copied value, in bytes; systems permit no more
// than 64 KiB.
const maxAttributes = 64 << 10

// copyAttributes copies extended attributes, including access lists, as far as the user may. Those
// that belong to the old content (capabilities, signatures) are not copied.
func copyAttributes(f, old *os.File) {
	list := make([]byte, maxAttributes)
	n, err := unix.Flistxattr(int(old.Fd()), list)
	if err != nil || n <= 0 {
		return
	}
	value := make([]byte, maxAttributes)
	for name := range strings.SplitSeq(strings.TrimRight(string(list[:n]), "\x00"), "\x00") {
		if name == "security.capability" || name == "security.ima" || name == "security.evm" {
			continue
		}
		if n, err := unix.Fgetxattr(int(old.Fd()), name, value); err == nil {
			unix.Fsetxattr(int(f.Fd()), name, value[:n], 0)
		}
	}
}
