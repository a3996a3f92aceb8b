package stream

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

// untouched reports whether nothing of a transfer was ever written here, or all of that is gone.
func (l *Ledger) untouched(mark string) bool {
	if l == nil {
		return false
	}
	_, err := os.Stat(l.path(mark))
	return errors.Is(err, fs.ErrNotExist)
}

// The ends of a transfer, for which there is a trail each.
const (
	atSource      = "out"
	atDestination = "in"
)

// maxOver is how many trails of transfers that are over are kept: their ends' word that they are may not have been heard.
const maxOver = 32

func (l *Ledger) trailPath(mark, where string) string {
	return filepath.Join(l.dir, "trails", strings.TrimPrefix(mark, partPrefix)+where)
}

// trail opens what is known of the files of a transfer at one of its ends. over says whether the transfer is; nothing more is written then.
func (l *Ledger) trail(mark, where string) (t *trail, over func()) {
	if l == nil {
		return nil, func() {}
	}
	name := l.trailPath(mark, where)
	os.Rename(name+overSuffix, name)
	t = openTrail(name)
	return t, func() {
		if t.close() {
			os.Rename(name, name+overSuffix)
			l.thin()
		}
	}
}

const overSuffix = ".over"

// thin removes the oldest trails of transfers that are over.
func (l *Ledger) thin() {
	dir := filepath.Join(l.dir, "trails")
	list, _ := os.ReadDir(dir) // none there is none to remove
	var infos []fs.FileInfo
	for _, entry := range list {
		if info, err := entry.Info(); err == nil && strings.HasSuffix(entry.Name(), overSuffix) {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for i := range max(len(infos)-maxOver, 0) {
		os.Remove(filepath.Join(dir, infos[i].Name()))
	}
}

// forget removes what is known of the files of a transfer at one of its ends.
func (l *Ledger) forget(mark, where string) {
	if l != nil {
		os.Remove(l.trailPath(mark, where))
		os.Remove(l.trailPath(mark, where) + overSuffix)
	}
}

// forgetOld removes what is known of the files of transfers that nobody has gone on with since before.
func (l *Ledger) forgetOld(before time.Time) {
	dir := filepath.Join(l.dir, "trails")
	list, _ := os.ReadDir(dir)
	for _, entry := range list {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(before) {
			os.Remove(filepath.Join(dir, entry.Name()))
		}
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
	l.forgetOld(before)
	l.sweepTrash(files)
	for _, entry := range list {
		removed += l.sweep(files, entry, before)
	}
	return removed
}

func (l *Ledger) sweep(files Files, entry os.DirEntry, before time.Time) (removed int) {
	mark := partPrefix + entry.Name()
	end, ok := l.sweeping(mark)
	if !ok {
		return 0
	}
	defer end()
	info, err := os.Lstat(l.path(mark)) // an attempt may have begun since the folder was read
	if err != nil || !info.Mode().IsRegular() || info.ModTime().After(before) {
		return 0
	}
	return l.clean(files, mark, before)
}
