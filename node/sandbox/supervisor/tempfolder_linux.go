package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/node/sandbox/confine"
	"fairlead/node/workspace"
)

const tempPrefix = "fairlead-commands-"

// MakeTemp creates a folder for the private temporary folders of commands, and removes those that
// killed programs left. It is locked until the lock is closed. It is not in the system's, which
// commands see only by links.
func MakeTemp() (dir string, lock *os.File, err error) {
	base, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return "", nil, err
	}
	sweepTemps(base)
	const other = "/var/tmp"
	if workspace.InFolder(base, confine.TempDir) && unix.Access(other, unix.W_OK) == nil {
		sweepTemps(other)
		base = other
	}
	return makeTemp(base)
}

// makeTemps prepares the folder of all temporary folders, which the helper makes for itself if the
// node gave it none.
func (c *confiner) makeTemps() (err error) {
	if c.temp != "" {
		return nil
	}
	if c.temp = c.settings.Temp; c.temp == "" {
		if c.temp, c.tempLock, err = MakeTemp(); err != nil {
			return err
		}
	}
	// They exist already if an earlier helper of the node has ended.
	blank := filepath.Join(c.temp, blankName)
	if err := os.WriteFile(blank, nil, 0); err != nil && !exists(blank) {
		return err
	}
	if err := os.Mkdir(filepath.Join(c.temp, blankFolderName), 0); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	c.copySystemFiles()
	return nil
}

// close removes the temporary folders, unless the node lives, which may have another helper.
func (c *confiner) close() {
	if c.temp == "" {
		return
	}
	lock := c.tempLock
	if lock == nil {
		var err error
		if lock, err = os.Open(c.temp); err != nil {
			return
		}
	}
	defer lock.Close()
	if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		os.RemoveAll(c.temp)
	}
}

// makeTemp creates a folder that is locked while its owner lives.
func makeTemp(base string) (string, *os.File, error) {
	dir, err := os.MkdirTemp(base, tempPrefix)
	if err != nil {
		return "", nil, err
	}
	lock, err := os.Open(dir)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	}
	return dir, lock, err
}

// sweepTemps removes the folders of killed helpers.
func sweepTemps(base string) {
	dirs, err := filepath.Glob(filepath.Join(base, tempPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		lock, err := os.OpenFile(dir, os.O_RDONLY|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		// A folder that is being created is not locked yet, but new.
		info, err := lock.Stat()
		if err == nil && time.Since(info.ModTime()) > time.Minute && unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			os.RemoveAll(dir)
		}
		lock.Close()
	}
}
