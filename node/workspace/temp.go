package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A temporary file is called .fairlead-PLACE-PID-RANDOM.tmp. A crash may leave it; the next process that writes in the folder removes it when it
// can tell that nobody is writing it any more.
const (
	tempPrefix = ".fairlead-"
	tempSuffix = ".tmp"
	// tempAge is when a file whose writer cannot be looked for is given up.
	tempAge = time.Hour
)

// temp is a new file that is not yet under its name.
type temp struct {
	dir  *os.Root
	name string
}

// live holds the names of this process's temporary files, so that an earlier process with the same id is told apart.
var live sync.Map

// newTemp writes data to a new file in dir that looks like old, which may be nil. The caller calls done.
func newTemp(dir *os.Root, data []byte, old *os.File) (*temp, error) {
	t := &temp{dir, tempPrefix + place() + "-" + strconv.Itoa(os.Getpid()) + "-" + rand.Text() + tempSuffix}
	live.Store(t.name, nil)
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = 0o600 // nobody looks into it before it has the old one's mode
	}
	f, err := dir.OpenFile(t.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		live.Delete(t.name)
		if errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("no new file can be made in its folder, which is how files are replaced in one step: %w", reason(err))
		}
		return nil, reason(err)
	}
	err = fill(f, data, old)
	if err = errors.Join(err, f.Close()); err != nil {
		t.done()
		return nil, reason(err)
	}
	return t, nil
}

func fill(f *os.File, data []byte, old *os.File) error {
	if _, err := f.Write(data); err != nil {
		return reason(err)
	}
	if old != nil {
		if err := keep(f, old); err != nil {
			return reason(err)
		}
	}
	return f.Sync()
}

// keep gives f the mode, owner and attributes of old. Owner and attributes are kept where the system lets us. A file that could not be given
// to its owner must not run as its writer.
func keep(f, old *os.File) error {
	info, err := old.Stat()
	if err != nil {
		return err
	}
	mode := info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	if !keepOwner(f, info) {
		mode &^= fs.ModeSetuid | fs.ModeSetgid
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	keepAttributes(f, old)
	return nil
}

// renameTries is how often a rename is tried where someone who has the old file open, as a virus scanner does for a moment, is in its way.
const renameTries = 10

func (t *temp) rename(name string) error {
	for try := 1; ; try++ {
		err := t.dir.Rename(t.name, name)
		switch {
		case err == nil:
			return nil
		case try == renameTries || !inUse(err):
			return reason(err)
		}
		time.Sleep(time.Duration(try) * 5 * time.Millisecond)
	}
}

// done removes the file, unless it was renamed.
func (t *temp) done() {
	t.dir.Remove(t.name)
	live.Delete(t.name)
}

// swept are the folders that were looked through lately, by what they are: not at each write, because a folder may be large.
var swept struct {
	mu   sync.Mutex // guards seen
	seen []sweeping // the oldest first
}

type sweeping struct {
	dir os.FileInfo
	at  time.Time
}

const (
	sweptMost = 256              // folders that are remembered
	sweptFor  = 10 * time.Minute // after this a folder is looked through again: its number may be another folder's by then
)

// sweepNow reports whether it is time to look through a folder, and remembers that it was done.
func sweepNow(dir os.FileInfo) bool {
	swept.mu.Lock()
	defer swept.mu.Unlock()
	for len(swept.seen) > 0 && (len(swept.seen) == sweptMost || time.Since(swept.seen[0].at) > sweptFor) {
		swept.seen = swept.seen[1:]
	}
	for _, s := range swept.seen {
		if os.SameFile(s.dir, dir) {
			return false
		}
	}
	swept.seen = append(swept.seen, sweeping{dir, time.Now()})
	return true
}

// sweep removes what a crash left in dir.
func sweep(dir *os.Root) {
	info, err := dir.Stat(".")
	if err != nil || !sweepNow(info) {
		return
	}
	d, err := dir.Open(".")
	if err != nil {
		return
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1024)
		for _, name := range names {
			if strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix) && left(dir, name) {
				dir.Remove(name)
			}
		}
		if err != nil {
			return
		}
	}
}

// left reports whether the writer of a temporary file is gone.
func left(dir *os.Root, name string) bool {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(name, tempPrefix), tempSuffix), "-")
	if len(parts) == 3 && parts[0] == place() {
		pid, err := strconv.Atoi(parts[1])
		if err == nil && pid == os.Getpid() {
			_, writing := live.Load(name)
			return !writing
		}
		if err == nil && pid > 0 && !running(pid) {
			return true
		}
	}
	// It is from another start of the machine, from another machine or container on the same disk, or its process's number was given away.
	return time.Since(info.ModTime()) > tempAge
}
