package stream

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
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
	list  *os.File
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
	return "-t" + shortHash(string(id))
}

// openTrashEntry opens the entry of earlier attempts, or creates one.
func openTrashEntry(root *os.Root, id protocol.TransferID) (k *trashEntry, err error) {
	if err := root.Mkdir(trashName, 0o700); err == nil {
		root.WriteFile(path.Join(trashName, ".gitignore"), []byte("*\n"), 0o600)
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if info, err := root.Lstat(trashName); err != nil || !info.IsDir() {
		return nil, errors.New("the trash folder is missing")
	}
	k = &trashEntry{root: root, files: make(map[string]bool)}
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
		if err := root.Mkdir(k.entry, 0o700); err != nil {
			return nil, err
		}
	}
	k.bytes = shrinkTrash(root, time.Now().Add(-TrashAge), maxTrash, path.Base(k.entry))
	k.list, err = root.OpenFile(path.Join(k.entry, trashList), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return k, nil
}

// trashEntries returns the entries of transfers in a folder's trash, oldest first.
func trashEntries(root *os.Root) (names []string) {
	all, _ := fs.ReadDir(root.FS(), trashName) // sorted by name, and so by time
	for _, e := range all {
		if _, ok := trashTime(e.Name()); ok {
			names = append(names, e.Name())
		}
	}
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
	data, _ := root.ReadFile(path.Join(entry, trashList)) // without a list, nothing was replaced
	for text := range bytes.Lines(data) {
		var line replacedFile
		if json.Unmarshal(text, &line) == nil && CheckName("", line.Name) == nil && line.N >= 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// add links a file into the trash, or moves it there if the file system has no hard links; then
// back undoes the move. line describes the replacement.
func (k *trashEntry) add(line replacedFile) (back func(), err error) {
	back = func() {}
	info, err := k.root.Lstat(line.Name)
	if err != nil {
		return back, nil // the file no longer exists
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

// shrinkTrash removes entries that are older than before, and then the oldest until the rest takes
// at most most bytes; it never removes the entry stays. It returns the remaining number of bytes.
func shrinkTrash(root *os.Root, before time.Time, most int64, stays string) (bytes int64) {
	if stays != "" {
		bytes = trashSize(root, stays)
	}
	full := false
	for _, name := range slices.Backward(trashEntries(root)) {
		if name == stays {
			continue
		}
		at, _ := trashTime(name)
		size := trashSize(root, name)
		full = full || bytes+size > most
		if (full || at.Before(before)) && root.RemoveAll(path.Join(trashName, name)) == nil {
			continue
		}
		bytes += size
	}
	return bytes
}

func trashSize(root *os.Root, entry string) (size int64) {
	files, _ := fs.ReadDir(root.FS(), path.Join(trashName, entry)) // the entry may not exist yet
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			size += info.Size()
		}
	}
	return size
}

// removeOldestTrash removes the oldest entry of a folder's trash, and reports whether there was
// one.
func removeOldestTrash(root *os.Root) bool {
	list := trashEntries(root)
	return len(list) > 0 && root.RemoveAll(path.Join(trashName, list[0])) == nil
}

// sweepTrashFolder removes expired entries, and the trash if it is empty then. It reports whether
// entries may remain.
func sweepTrashFolder(root *os.Root, before time.Time) bool {
	shrinkTrash(root, before, maxTrash, "")
	rest, err := fs.ReadDir(root.FS(), trashName)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	if len(rest) == 0 || len(rest) == 1 && rest[0].Name() == ".gitignore" {
		root.Remove(path.Join(trashName, ".gitignore"))
		return root.Remove(trashName) != nil
	}
	return len(trashEntries(root)) > 0
}
