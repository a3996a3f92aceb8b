package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// rename moves old to a name that must not exist, atomically.
func (r Entries) rename(old, fresh location) error {
	_, err := retry(func() (int, error) {
		return 0, unix.Renameat2(old.dir.fd, old.name, fresh.dir.fd, fresh.name, unix.RENAME_NOREPLACE)
	})
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	// On file systems without that operation: a hard link never replaces anything, and a folder is
	// replaced only by a folder and only if it is empty.
	info, err := old.dir.Info(old.name)
	if err != nil {
		return err
	}
	if info.Mode.IsRegular() {
		if err := unix.Linkat(old.dir.fd, old.name, fresh.dir.fd, fresh.name, 0); err == nil || errors.Is(err, unix.EEXIST) {
			if err == nil {
				err = unix.Unlinkat(old.dir.fd, old.name, 0)
			}
			return err
		}
	}
	if _, err := fresh.dir.Info(fresh.name); err == nil {
		return ErrExists
	}
	return unix.Renameat(old.dir.fd, old.name, fresh.dir.fd, fresh.name)
}

func (d *Dir) mkdir(name string, perm os.FileMode) error {
	_, err := retry(func() (int, error) { return 0, unix.Mkdirat(d.fd, name, uint32(perm)) })
	return err
}
