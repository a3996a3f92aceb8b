package stream

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// PartAge is how long an unfinished file is kept for the next attempt of its transfer. After that a retry sends the whole file.
const PartAge = 14 * 24 * time.Hour

// Ledger remembers, over crashes, in which folders the unfinished files of which transfers may be, so that none stays for good and nothing else is
// ever removed: an entry names its folders, and the names of the files in them begin with the transfer's own mark. A nil Ledger remembers nothing.
// It is safe for use by many goroutines and processes.
type Ledger struct{ dir string }

// OpenLedger keeps a ledger in a folder, which is made when it is needed.
func OpenLedger(dir string) *Ledger { return &Ledger{dir} }

func (l *Ledger) path(mark string) string {
	return filepath.Join(l.dir, strings.TrimPrefix(mark, partPrefix))
}

// note says that a file of this mark is about to be in a folder. A ledger that cannot be written keeps nothing from arriving.
func (l *Ledger) note(mark, folder string) {
	if l == nil {
		return
	}
	f, err := os.OpenFile(l.path(mark), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		os.MkdirAll(l.dir, 0o700)
		f, err = os.OpenFile(l.path(mark), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	}
	if err == nil {
		f.WriteString(strconv.Quote(folder) + "\n")
		f.Close()
	}
}

// done says that no unfinished file of this mark is left.
func (l *Ledger) done(mark string) {
	if l != nil {
		os.Remove(l.path(mark))
	}
}

// clean removes the unfinished files of a mark that were not written after before, all of them when it is zero, and returns how many there were.
func (l *Ledger) clean(files Files, mark string, before time.Time) (removed int) {
	if l == nil {
		return 0
	}
	data, err := os.ReadFile(l.path(mark))
	if err != nil {
		return 0
	}
	rest := false
	seen := make(map[string]bool)
	for s := bufio.NewScanner(strings.NewReader(string(data))); s.Scan(); {
		folder, err := strconv.Unquote(s.Text())
		if err != nil || seen[folder] { // cut off by a crash: nothing was made in it yet
			continue
		}
		seen[folder] = true
		n, err := sweepFolder(files, folder, mark, before)
		removed += n
		rest = rest || err != nil && !errors.Is(err, fs.ErrNotExist)
	}
	if !rest {
		l.done(mark)
	}
	return removed
}

// sweepFolder removes what begins with mark in a folder. An error says that something may be left.
func sweepFolder(files Files, folder, mark string, before time.Time) (removed int, err error) {
	t, err := files.Target(strings.TrimPrefix(folder, "gsv:"), true, false)
	if err != nil {
		return 0, err
	}
	defer t.Root.Close()
	dir, err := t.Root.Open(".")
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	for {
		names, readErr := dir.Readdirnames(1000)
		for _, name := range names {
			if !strings.HasPrefix(name, mark) || !strings.HasSuffix(name, partSuffix) {
				continue
			}
			info, statErr := t.Root.Lstat(name)
			switch {
			case statErr != nil || !info.Mode().IsRegular():
			case !before.IsZero() && info.ModTime().After(before):
				err = errors.New("it is being written")
			default:
				if removeErr := t.Root.Remove(name); removeErr != nil {
					err = removeErr
				} else {
					removed++
				}
			}
		}
		if len(names) == 0 || readErr != nil {
			return removed, err
		}
	}
}

// Sweep removes what transfers left unfinished that nobody has gone on with since before, and returns how many files that were. A folder that cannot
// be reached is looked into the next time.
func (l *Ledger) Sweep(files Files, before time.Time) (removed int) {
	if l == nil {
		return 0
	}
	list, err := os.ReadDir(l.dir)
	if err != nil {
		return 0
	}
	for _, entry := range list {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || info.ModTime().After(before) {
			continue
		}
		removed += l.clean(files, partPrefix+entry.Name(), before)
	}
	return removed
}
