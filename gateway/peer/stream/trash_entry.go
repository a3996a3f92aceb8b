package stream

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// A replaced file is retained, so that the person can restore it ([Ends] on
// [protocol.EventTransferUndo]): as a second hard link in a hidden folder at the top of the
// destination folder, on the same disk. Other programs see either the old file or the new one under
// the name, and a crash at any point leaves one of them. It is retained for [TrashAge], and at most
// [maxTrash] bytes in one destination folder. The oldest are removed first, also when the disk has
// no space for new data. The hidden folder has the name of the trash of a machine's workspace;
// other entries in it are never touched.
const (
	trashName = ".fairlead-trash"
	// TrashAge is the time for which replaced files are retained.
	TrashAge = 30 * 24 * time.Hour
	// maxTrash is the maximum number of bytes of retained files in one destination folder.
	maxTrash = 10 << 30
	// trashList is the name of the list of files in a transfer's entry.
	trashList = "list"
)

// trashEntry is the trash entry of one transfer: the files that it has replaced.
type trashEntry struct {
	root  *os.Root // the destination folder
	entry string   // path of the entry's folder below root
	list  *os.File // nil until something is replaced
	n     int
	bytes int64 // of all entries in this trash
	files map[string]bool
}

// replacedFile is one line of the list.
type replacedFile struct {
	N    int    `json:"n"`    // name of the file in the entry
	Name string `json:"name"` // original path, relative to the destination folder
	// The file that replaced it, by which undo recognizes it. Link is its target if it is a
	// symbolic link.
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`
	Link  string `json:"link,omitempty"`
}

// trashSuffix returns the suffix of the names of a transfer's entries.
func trashSuffix(id protocol.TransferID) string {
	h := sha256.Sum256([]byte(id))
	return "-t" + hex.EncodeToString(h[:8])
}

// openTrashEntry finds the entry of earlier attempts.
func openTrashEntry(root *os.Root, id protocol.TransferID) *trashEntry {
	k := &trashEntry{root: root, files: make(map[string]bool)}
	for _, e := range trashEntries(root) {
		if strings.HasSuffix(e, trashSuffix(id)) {
			k.entry = path.Join(trashName, e)
			for _, line := range readTrashList(root, k.entry) {
				k.files[line.Name] = true
				k.n = max(k.n, line.N+1)
			}
		}
	}
	if k.entry == "" {
		k.entry = path.Join(trashName, strconv.FormatInt(time.Now().UnixMilli(), 10)+trashSuffix(id))
	}
	return k
}

// trashEntries returns the entries of transfers in a folder's trash, oldest first.
func trashEntries(root *os.Root) (names []string) {
	dir, err := root.Open(trashName)
	if err != nil {
		return nil
	}
	defer dir.Close()
	all, _ := dir.Readdirnames(-1)
	for _, name := range all {
		if _, ok := trashTime(name); ok {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		x, _ := trashTime(a)
		y, _ := trashTime(b)
		return x.Compare(y)
	})
	return names
}

// trashTime returns the creation time of an entry; ok is false for other entries of the trash.
func trashTime(entry string) (at time.Time, ok bool) {
	millis, mark, _ := strings.Cut(entry, "-")
	n, err := strconv.ParseInt(millis, 10, 64)
	raw, hexErr := hex.DecodeString(strings.TrimPrefix(mark, "t"))
	return time.UnixMilli(n), err == nil && hexErr == nil && strings.HasPrefix(mark, "t") && len(raw) == 8
}

// readTrashList reads an entry's list. It ignores a line that was cut off by a crash.
func readTrashList(root *os.Root, entry string) (lines []replacedFile) {
	f, err := root.Open(path.Join(entry, trashList))
	if err != nil {
		return nil
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<10)
	for s.Scan() {
		var line replacedFile
		if json.Unmarshal(s.Bytes(), &line) == nil && CheckName("", line.Name) == nil && line.N >= 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// create creates the entry when its first file is added.
func (k *trashEntry) create() (err error) {
	if k.list != nil {
		return nil
	}
	if err := k.root.Mkdir(trashName, 0o700); err == nil {
		k.root.WriteFile(path.Join(trashName, ".gitignore"), []byte("*\n"), 0o600)
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := k.root.Lstat(trashName); err != nil || !info.IsDir() {
		return errors.New("the trash folder is missing")
	}
	if err := k.root.Mkdir(k.entry, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	k.bytes = shrinkTrash(k.root, time.Now().Add(-TrashAge), maxTrash, path.Base(k.entry))
	k.list, err = k.root.OpenFile(path.Join(k.entry, trashList), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	return err
}

// add links a file into the trash, or moves it there if the file system has no hard links; then
// back undoes the move. line describes the replacement.
func (k *trashEntry) add(line replacedFile) (back func(), err error) {
	back = func() {}
	info, err := k.root.Lstat(line.Name)
	if err != nil {
		return back, nil // the file no longer exists
	}
	if err = k.create(); err != nil {
		return back, err
	}
	if k.bytes += info.Size(); k.bytes > maxTrash {
		k.bytes = shrinkTrash(k.root, time.Now().Add(-TrashAge), maxTrash-info.Size(), path.Base(k.entry)) + info.Size()
	}
	if k.bytes > maxTrash {
		k.bytes -= info.Size()
		return back, errors.New("the trash is full")
	}
	line.N = k.n
	raw, err := json.Marshal(line)
	if err == nil {
		_, err = k.list.Write(append(raw, '\n')) // first, so that a crash leaves at most a line without a file
	}
	if err != nil {
		return back, err
	}
	at := path.Join(k.entry, strconv.Itoa(k.n))
	if err = k.root.Link(line.Name, at); err != nil { // a file system without hard links
		if err = k.root.Rename(line.Name, at); err == nil {
			back = func() { k.root.Rename(at, line.Name) }
		}
	}
	if err == nil {
		k.n++
		k.files[line.Name] = true
	}
	return back, err
}

func (k *trashEntry) close() {
	if k != nil && k.list != nil {
		k.list.Close()
		k.list = nil
	}
}

// shrinkTrash removes entries that are older than before, and then the oldest until the rest takes
// at most most bytes; it never removes the entry stays. It returns the remaining number of bytes.
func shrinkTrash(root *os.Root, before time.Time, most int64, stays string) (bytes int64) {
	type entry struct {
		name string
		size int64
	}
	var list []entry
	for _, name := range trashEntries(root) {
		if at, _ := trashTime(name); at.Before(before) && name != stays {
			root.RemoveAll(path.Join(trashName, name))
			continue
		}
		size := trashSize(root, name)
		bytes += size
		list = append(list, entry{name, size})
	}
	for _, e := range list {
		if bytes <= most {
			break
		}
		if e.name != stays && root.RemoveAll(path.Join(trashName, e.name)) == nil {
			bytes -= e.size
		}
	}
	return bytes
}

func trashSize(root *os.Root, entry string) (size int64) {
	dir, err := root.Open(path.Join(trashName, entry))
	if err != nil {
		return 0
	}
	defer dir.Close()
	infos, _ := dir.Readdir(-1)
	for _, info := range infos {
		size += info.Size()
	}
	return size
}

// sweepTrashFolder removes expired entries, and the trash if it is empty then; rest reports that
// something remains.
func sweepTrashFolder(root *os.Root, before time.Time) (rest bool) {
	shrinkTrash(root, before, maxTrash, "")
	dir, err := root.Open(trashName)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	names, err := dir.Readdirnames(-1)
	dir.Close()
	if err != nil {
		return true
	}
	if len(names) == 0 || len(names) == 1 && names[0] == ".gitignore" {
		root.Remove(path.Join(trashName, ".gitignore"))
		return root.Remove(trashName) != nil
	}
	return len(trashEntries(root)) > 0
}

// undoResult is the result of restoring the files that a transfer replaced.
type undoResult struct {
	restored int // number of restored files
	problems []protocol.TransferProblem
}

// undo restores the files that a transfer replaced below a folder. The files that replaced them go
// to the trash, unless they were changed since: such a file stays, and the old one is not restored.
func undo(root *os.Root, id protocol.TransferID) (u undoResult) {
	for _, name := range slices.Backward(trashEntries(root)) {
		if !strings.HasSuffix(name, trashSuffix(id)) {
			continue
		}
		entry := path.Join(trashName, name)
		first, last := make(map[string]int), make(map[string]replacedFile) // an interrupted attempt may have retained a file that the next one retained again
		var names []string
		for _, line := range readTrashList(root, entry) {
			if _, err := root.Lstat(path.Join(entry, strconv.Itoa(line.N))); err != nil {
				continue
			}
			if _, ok := first[line.Name]; !ok {
				first[line.Name] = line.N
				names = append(names, line.Name)
			}
			last[line.Name] = line
		}
		for _, name := range names {
			if err := undoFile(root, entry, first[name], last[name]); err == nil {
				u.restored++
			} else if len(u.problems) < maxProblems {
				u.problems = append(u.problems, protocol.TransferProblem{Path: strings.ToValidUTF8(name, "�"), Text: err.Error()})
			}
		}
	}
	return u
}

func undoFile(root *os.Root, entry string, n int, line replacedFile) error {
	old, away := path.Join(entry, strconv.Itoa(n)), path.Join(entry, strconv.Itoa(n)+".new")
	if err := checkParents(root, path.Dir(line.Name)); err != nil {
		return err
	}
	now, err := root.Lstat(line.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return withoutPath(root.Rename(old, line.Name))
	case err != nil:
		return withoutPath(err)
	}
	if was, err := root.Lstat(old); err == nil && os.SameFile(was, now) { // it was linked into the trash, but not replaced
		return withoutPath(root.Remove(old))
	}
	link := ""
	if now.Mode()&fs.ModeSymlink != 0 {
		link, _ = root.Readlink(line.Name)
	}
	if link != line.Link || link == "" && (!now.Mode().IsRegular() || now.Size() != line.Size || now.ModTime().UnixNano() != line.Mtime) {
		return fmt.Errorf("it was changed since, so it was not restored; the previous version is %s", old)
	}
	if root.Link(line.Name, away) != nil {
		if err := root.Rename(line.Name, away); err != nil {
			return withoutPath(err)
		}
	}
	return withoutPath(root.Rename(old, line.Name))
}

// checkParents checks that no folder down to dir is a symbolic link.
func checkParents(root *os.Root, dir string) error {
	for ; dir != "."; dir = path.Dir(dir) {
		switch info, err := root.Lstat(dir); {
		case err != nil:
			return withoutPath(err)
		case !info.IsDir():
			return fmt.Errorf("%s is no longer a folder", dir)
		}
	}
	return nil
}
