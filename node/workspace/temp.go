package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/format"
)

// A crash may leave a temporary file behind. A later write in the folder removes it once it is so old
// that nobody writes it any more.
const (
	tempPrefix = ".fairlead-"
	tempSuffix = ".tmp"
	tempAge    = 10 * time.Minute
)

type temp struct {
	dir  *os.Root
	name string
}

// newTemp creates an empty file in dir with a mode, and opens it. The caller removes it, unless it
// was renamed.
func newTemp(dir *os.Root, perm fs.FileMode) (*temp, *os.File, error) {
	t := &temp{dir, tempPrefix + rand.Text() + tempSuffix}
	f, err := dir.OpenFile(t.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if errors.Is(err, fs.ErrPermission) {
		return nil, nil, fmt.Errorf("cannot create a new file in its folder, which is needed to replace a file in one step: %w", format.WithoutPath(err))
	}
	return t, f, format.WithoutPath(err)
}

// copyMetadata gives f the mode, owner and attributes of old, the latter two where the system
// permits it. A file that could not be given to its owner loses its set-user-ID and set-group-ID
// bits, so that it does not run as its writer.
func copyMetadata(f, old *os.File) error {
	info, err := old.Stat()
	if err != nil {
		return err
	}
	mode := info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	if !copyOwner(f, info) {
		mode &^= fs.ModeSetuid | fs.ModeSetgid
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	copyAttributes(f, old)
	return nil
}

// renameTries is how often a rename is tried when another program, such as a virus scanner, has the
// old file open for a moment.
const renameTries = 10

func (t *temp) rename(name string) error {
	for try := 1; ; try++ {
		err := t.dir.Rename(t.name, name)
		switch {
		case err == nil:
			return nil
		case try == renameTries || !isInUse(err):
			return format.WithoutPath(err)
		}
		time.Sleep(time.Duration(try) * 5 * time.Millisecond)
	}
}

func (t *temp) remove() { t.dir.Remove(t.name) }

// swept contains when folders were last swept, by path. Folders are not swept at each write,
// because they may be large.
var swept sync.Map

// sweep removes temporary files that a crash left in the folder dir, whose path is abs.
func sweep(dir *os.Root, abs string) {
	if last, ok := swept.Load(abs); ok && time.Since(last.(time.Time)) < tempAge {
		return
	}
	swept.Store(abs, time.Now())
	d, err := dir.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if !strings.HasPrefix(name, tempPrefix) || !strings.HasSuffix(name, tempSuffix) {
				continue
			}
			if info, err := dir.Lstat(name); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > tempAge {
				dir.Remove(name)
			}
		}
		if err != nil {
			return
		}
	}
}
