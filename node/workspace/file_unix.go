//go:build unix

package workspace

import (
	"errors"
	"os"
	"syscall"
)

// nonblock keeps open from waiting for the other end of a named pipe.
const nonblock = syscall.O_NONBLOCK

// keepOwner gives f the owner of old where the system lets us: only root may give files away.
func keepOwner(f *os.File, old os.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		f.Chown(int(st.Uid), int(st.Gid))
	}
}

// syncDir makes a rename last. File systems that cannot sync a directory say EINVAL.
func syncDir(t tree, dir string) error {
	d, err := t.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return nil // the folder may be writable and not readable
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return reason(err)
	}
	return nil
}
