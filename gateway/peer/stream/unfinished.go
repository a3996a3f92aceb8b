package stream

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// PartAge is the time for which an unfinished file is retained for the next attempt of its
// transfer. After that, a retry sends the whole file.
const PartAge = 14 * 24 * time.Hour

// UnfinishedFiles records on disk which folders may have unfinished files of which transfers, so
// that they are removed in the end, and nothing else ever is: an entry lists folders, and the names
// of the unfinished files in them begin with the transfer's own prefix. A nil value records
// nothing. It also has the hash states of the latest transfers, while the program runs. It is safe for
// concurrent use, also by several processes.
type UnfinishedFiles struct {
	dir    string
	latest *latestCheckpoints
}

// OpenUnfinished uses a folder, which is created when it is needed.
func OpenUnfinished(dir string) *UnfinishedFiles {
	return &UnfinishedFiles{dir, &latestCheckpoints{all: make(map[string]checkpoints)}}
}

// Of returns the record of one of several folders that may have unfinished files.
func (l *UnfinishedFiles) Of(name string) *UnfinishedFiles {
	if l == nil {
		return nil
	}
	return &UnfinishedFiles{filepath.Join(l.dir, name), l.latest}
}

func (l *UnfinishedFiles) path(mark string) string {
	return filepath.Join(l.dir, strings.TrimPrefix(mark, partPrefix))
}

// addFolder records that a file with this prefix is about to be created in a folder. A failure to
// record does not stop the transfer.
func (l *UnfinishedFiles) addFolder(mark, folder string) {
	if l == nil {
		return
	}
	os.MkdirAll(l.dir, 0o700)
	if f, err := os.OpenFile(l.path(mark), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err == nil {
		f.WriteString(strconv.Quote(folder) + "\n")
		f.Close()
	}
}

// touch keeps the unfinished files of a transfer from [UnfinishedFiles.Sweep] for some time. It
// reports whether nothing of the transfer was ever written here, or everything was removed.
func (l *UnfinishedFiles) touch(mark string) (isUnknown bool) {
	if l == nil {
		return false
	}
	now := time.Now()
	return errors.Is(os.Chtimes(l.path(mark), now, now), fs.ErrNotExist)
}

// removeEntry records that no unfinished file with this prefix is left.
func (l *UnfinishedFiles) removeEntry(mark string) {
	if l != nil {
		os.Remove(l.path(mark))
	}
}

// removeFiles removes the unfinished files with a prefix that were not written after before, or all
// of them if before is zero, and returns their number.
func (l *UnfinishedFiles) removeFiles(files Files, mark string, before time.Time) (removed int) {
	if l == nil {
		return 0
	}
	data, err := os.ReadFile(l.path(mark))
	if err != nil {
		return 0
	}
	rest := false
	seen := make(map[string]bool)
	for line := range strings.Lines(string(data)) {
		folder, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err != nil || seen[folder] { // cut off by a crash, before anything was created in the folder
			continue
		}
		seen[folder] = true
		n, err := sweepFolder(files, folder, mark, before)
		removed += n
		rest = rest || err != nil && !errors.Is(err, fs.ErrNotExist)
	}
	if !rest {
		l.removeEntry(mark)
	}
	return removed
}

// sweepFolder removes the files in a folder whose names begin with mark. An error means that some
// may be left.
func sweepFolder(files Files, folder, mark string, before time.Time) (removed int, err error) {
	t, err := files.Target(strings.TrimPrefix(folder, "gsv:"), true, false)
	if err != nil {
		return 0, err
	}
	defer t.Root.Close()
	list, err := fs.ReadDir(t.Root.FS(), ".")
	for _, e := range list {
		name := e.Name()
		if !strings.HasPrefix(name, mark) || !strings.HasSuffix(name, partSuffix) {
			continue
		}
		info, statErr := e.Info()
		switch {
		case statErr != nil || !info.Mode().IsRegular():
		case !before.IsZero() && info.ModTime().After(before):
			err = errors.New("it is in use")
		default:
			if removeErr := t.Root.Remove(name); removeErr != nil {
				err = removeErr
			} else {
				removed++
			}
		}
	}
	return removed, err
}

// Sweep removes the unfinished files of transfers without an attempt since before, and returns
// their number. Unreachable folders are tried again the next time.
func (l *UnfinishedFiles) Sweep(files Files, before time.Time) (removed int) {
	if l == nil {
		return 0
	}
	list, err := os.ReadDir(l.dir)
	if err != nil {
		return 0
	}
	l.sweepTrash(files)
	for _, entry := range list {
		mark := partPrefix + entry.Name()
		info, err := os.Lstat(l.path(mark)) // an attempt may have started since the folder was read
		if err == nil && info.Mode().IsRegular() && !info.ModTime().After(before) {
			removed += l.removeFiles(files, mark, before)
		}
	}
	return removed
}

// addTrash records that a folder's trash is about to get replaced files.
func (l *UnfinishedFiles) addTrash(folder string) {
	if l == nil {
		return
	}
	name := filepath.Join(l.dir, "trash", shortHash(folder))
	if os.MkdirAll(filepath.Dir(name), 0o700) == nil {
		os.WriteFile(name, []byte(folder), 0o600)
	}
}

// sweepTrash removes expired replaced files.
func (l *UnfinishedFiles) sweepTrash(files Files) {
	dir := filepath.Join(l.dir, "trash")
	list, _ := os.ReadDir(dir) // without the folder, nothing was replaced
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		folder, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		t, err := files.Target(strings.TrimPrefix(string(folder), "gsv:"), true, false)
		if err != nil {
			continue // it may be reachable the next time
		}
		if !sweepTrashFolder(t.Root, time.Now().Add(-TrashAge)) {
			os.Remove(name)
		}
		t.Root.Close()
	}
}
