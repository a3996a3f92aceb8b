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

// PartAge is the time for which an unfinished file is retained for the next attempt of its
// transfer. After that, a retry sends the whole file.
const PartAge = 14 * 24 * time.Hour

// Unfinished records on disk which folders may have unfinished files of which transfers, so that
// they are removed in the end, and nothing else ever is: an entry lists folders, and the names of
// the unfinished files in them begin with the transfer's own prefix. A nil Unfinished records
// nothing. It is safe for concurrent use, also by several processes.
type Unfinished struct{ dir string }

// OpenUnfinished uses a folder, which is created when it is needed.
func OpenUnfinished(dir string) *Unfinished { return &Unfinished{dir} }

func (l *Unfinished) path(mark string) string {
	return filepath.Join(l.dir, strings.TrimPrefix(mark, partPrefix))
}

// addFolder records that a file with this prefix is about to be created in a folder. A failure to
// record does not stop the transfer.
func (l *Unfinished) addFolder(mark, folder string) {
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

// isUnknown reports whether nothing of a transfer was ever written here, or everything was removed.
func (l *Unfinished) isUnknown(mark string) bool {
	if l == nil {
		return false
	}
	_, err := os.Stat(l.path(mark))
	return errors.Is(err, fs.ErrNotExist)
}

// The ends of a transfer, each with a checkpoint log of its own.
const (
	atSource      = "out"
	atDestination = "in"
)

// maxFinished is the maximum number of checkpoint logs of finished transfers that are retained,
// because the gateway may not have received the final report.
const maxFinished = 32

func (l *Unfinished) checkpointPath(mark, where string) string {
	return filepath.Join(l.dir, "trails", strings.TrimPrefix(mark, partPrefix)+where)
}

// openCheckpoints opens the checkpoints of a transfer's files at one of its ends. done marks the
// transfer as finished; nothing more is written then.
func (l *Unfinished) openCheckpoints(mark, where string) (t *checkpointLog, done func()) {
	if l == nil {
		return nil, func() {}
	}
	name := l.checkpointPath(mark, where)
	os.Rename(name+finishedSuffix, name)
	t = openCheckpointLog(name)
	return t, func() {
		if t.close() {
			os.Rename(name, name+finishedSuffix)
			l.removeOldCheckpoints()
		}
	}
}

const finishedSuffix = ".over"

// removeOldCheckpoints removes the oldest checkpoint logs of finished transfers.
func (l *Unfinished) removeOldCheckpoints() {
	dir := filepath.Join(l.dir, "trails")
	list, _ := os.ReadDir(dir) // on an error there is nothing to remove
	var infos []fs.FileInfo
	for _, entry := range list {
		if info, err := entry.Info(); err == nil && strings.HasSuffix(entry.Name(), finishedSuffix) {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for i := range max(len(infos)-maxFinished, 0) {
		os.Remove(filepath.Join(dir, infos[i].Name()))
	}
}

// removeCheckpoints removes the checkpoints of a transfer's files at one of its ends.
func (l *Unfinished) removeCheckpoints(mark, where string) {
	if l != nil {
		os.Remove(l.checkpointPath(mark, where))
		os.Remove(l.checkpointPath(mark, where) + finishedSuffix)
	}
}

// removeStaleCheckpoints removes the checkpoints of transfers without an attempt since before.
func (l *Unfinished) removeStaleCheckpoints(before time.Time) {
	dir := filepath.Join(l.dir, "trails")
	list, _ := os.ReadDir(dir)
	for _, entry := range list {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(before) {
			os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// removeEntry records that no unfinished file with this prefix is left.
func (l *Unfinished) removeEntry(mark string) {
	if l != nil {
		os.Remove(l.path(mark))
	}
}

// removeFiles removes the unfinished files with a prefix that were not written after before, or all
// of them if before is zero, and returns their number.
func (l *Unfinished) removeFiles(files Files, mark string, before time.Time) (removed int) {
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
				err = errors.New("it is in use")
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

// Sweep removes the unfinished files of transfers without an attempt since before, and returns
// their number. Unreachable folders are tried again the next time.
func (l *Unfinished) Sweep(files Files, before time.Time) (removed int) {
	if l == nil {
		return 0
	}
	list, err := os.ReadDir(l.dir)
	if err != nil {
		return 0
	}
	l.removeStaleCheckpoints(before)
	l.sweepTrash(files)
	for _, entry := range list {
		removed += l.sweep(files, entry, before)
	}
	return removed
}

func (l *Unfinished) sweep(files Files, entry os.DirEntry, before time.Time) (removed int) {
	mark := partPrefix + entry.Name()
	end, ok := l.beginSweep(mark)
	if !ok {
		return 0
	}
	defer end()
	info, err := os.Lstat(l.path(mark)) // an attempt may have started since the folder was read
	if err != nil || !info.Mode().IsRegular() || info.ModTime().After(before) {
		return 0
	}
	return l.removeFiles(files, mark, before)
}
