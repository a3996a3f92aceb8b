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

// What a transfer replaces is kept, so that the person can have it back ([Ends] on [protocol.EventTransferUndo]): in a hidden folder at the top of the
// folder that was sent to, on the same disk, as a second name of the old file. So whoever looks at the name sees the old file or the new one, and a crash
// at any point leaves either. It is kept for [KeptAge], and at most [maxKept] of it in one folder; the oldest goes first, also where the disk has no room
// for what arrives. The folder has the name of the trash of a machine's workspace, whose own entries are none of ours.
const (
	trashName = ".fairlead-trash"
	// KeptAge is how long what a transfer has replaced is kept.
	KeptAge = 30 * 24 * time.Hour
	// maxKept is how many bytes of it are kept in one folder that was sent to.
	maxKept = 10 << 30
	// keptList is the list of what is in a transfer's entry.
	keptList = "list"
)

// kept is what one transfer has replaced.
type kept struct {
	root  *os.Root // of the folder that is sent to
	entry string   // its folder below root
	list  *os.File // nil until something is replaced
	n     int
	bytes int64 // of all entries in this folder
	files map[string]bool
}

// replaced is one line of the list.
type replaced struct {
	N    int    `json:"n"`    // the file in the entry
	Name string `json:"name"` // of the file that it was, below the folder that is sent to
	// Of the file that took its place, by which undo knows it; Link is where that leads if it is a symbolic link.
	Size  int64  `json:"size"`
	Mtime int64  `json:"mtime"`
	Link  string `json:"link,omitempty"`
}

// keptMark ends the names of a transfer's entries.
func keptMark(id protocol.TransferID) string {
	h := sha256.Sum256([]byte(id))
	return "-t" + hex.EncodeToString(h[:8])
}

// openKept finds what earlier attempts have kept.
func openKept(root *os.Root, id protocol.TransferID) *kept {
	k := &kept{root: root, files: make(map[string]bool)}
	for _, e := range keptEntries(root) {
		if strings.HasSuffix(e, keptMark(id)) {
			k.entry = path.Join(trashName, e)
			for _, line := range readKept(root, k.entry) {
				k.files[line.Name] = true
				k.n = max(k.n, line.N+1)
			}
		}
	}
	if k.entry == "" {
		k.entry = path.Join(trashName, strconv.FormatInt(time.Now().UnixMilli(), 10)+keptMark(id))
	}
	return k
}

// keptEntries are those in the trash of a folder that transfers have made, the oldest first.
func keptEntries(root *os.Root) (names []string) {
	dir, err := root.Open(trashName)
	if err != nil {
		return nil
	}
	defer dir.Close()
	all, _ := dir.Readdirnames(-1)
	for _, name := range all {
		if _, ok := keptAt(name); ok {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		x, _ := keptAt(a)
		y, _ := keptAt(b)
		return x.Compare(y)
	})
	return names
}

// keptAt is when an entry was made; ok is false for what is none of ours.
func keptAt(entry string) (at time.Time, ok bool) {
	millis, mark, _ := strings.Cut(entry, "-")
	n, err := strconv.ParseInt(millis, 10, 64)
	raw, hexErr := hex.DecodeString(strings.TrimPrefix(mark, "t"))
	return time.UnixMilli(n), err == nil && hexErr == nil && strings.HasPrefix(mark, "t") && len(raw) == 8
}

// readKept reads an entry's list, up to where a crash has cut it off.
func readKept(root *os.Root, entry string) (lines []replaced) {
	f, err := root.Open(path.Join(entry, keptList))
	if err != nil {
		return nil
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 64<<10)
	for s.Scan() {
		var line replaced
		if json.Unmarshal(s.Bytes(), &line) == nil && CheckName("", line.Name) == nil && line.N >= 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// make makes the entry, with its first file.
func (k *kept) make() (err error) {
	if k.list != nil {
		return nil
	}
	if err := k.root.Mkdir(trashName, 0o700); err == nil {
		k.root.WriteFile(path.Join(trashName, ".gitignore"), []byte("*\n"), 0o600)
	} else if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := k.root.Lstat(trashName); err != nil || !info.IsDir() {
		return errors.New("there is no trash")
	}
	if err := k.root.Mkdir(k.entry, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	k.bytes = thinKept(k.root, time.Now().Add(-KeptAge), maxKept, path.Base(k.entry))
	k.list, err = k.root.OpenFile(path.Join(k.entry, keptList), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	return err
}

// keep gives what has a name a second one in the trash, or moves it there where that cannot be; then back undoes it. line says what takes its place.
func (k *kept) keep(line replaced) (back func(), err error) {
	back = func() {}
	info, err := k.root.Lstat(line.Name)
	if err != nil {
		return back, nil // there is nothing any more
	}
	if err = k.make(); err != nil {
		return back, err
	}
	if k.bytes += info.Size(); k.bytes > maxKept {
		k.bytes = thinKept(k.root, time.Now().Add(-KeptAge), maxKept-info.Size(), path.Base(k.entry)) + info.Size()
	}
	if k.bytes > maxKept {
		k.bytes -= info.Size()
		return back, errors.New("it is too much")
	}
	line.N = k.n
	raw, err := json.Marshal(line)
	if err == nil {
		_, err = k.list.Write(append(raw, '\n')) // before: a crash leaves a line about a file that is not in the trash
	}
	if err != nil {
		return back, err
	}
	at := path.Join(k.entry, strconv.Itoa(k.n))
	if err = k.root.Link(line.Name, at); err != nil { // a file system without second names
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

func (k *kept) close() {
	if k != nil && k.list != nil {
		k.list.Close()
		k.list = nil
	}
}

// thinKept removes entries that are older than before, and then the oldest until all take at most so many bytes; one of them stays in any case. It returns
// how many bytes there are.
func thinKept(root *os.Root, before time.Time, most int64, stays string) (bytes int64) {
	type entry struct {
		name string
		size int64
	}
	var list []entry
	for _, name := range keptEntries(root) {
		if at, _ := keptAt(name); at.Before(before) && name != stays {
			root.RemoveAll(path.Join(trashName, name))
			continue
		}
		size := keptSize(root, name)
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

func keptSize(root *os.Root, entry string) (size int64) {
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

// sweepKept removes what is too old, and the trash when nothing is left in it; rest says that there is still something.
func sweepKept(root *os.Root, before time.Time) (rest bool) {
	thinKept(root, before, maxKept, "")
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
	return len(keptEntries(root)) > 0
}

// Undone is what came of bringing back what a transfer has replaced.
type undone struct {
	back     int // files that are again as they were
	problems []protocol.TransferProblem
}

// undo brings back what a transfer has replaced below a folder. What took its place goes into the trash in its stead, unless somebody has changed it since:
// then nothing is done about that file.
func undo(root *os.Root, id protocol.TransferID) (u undone) {
	for _, name := range slices.Backward(keptEntries(root)) {
		if !strings.HasSuffix(name, keptMark(id)) {
			continue
		}
		entry := path.Join(trashName, name)
		first, last := make(map[string]int), make(map[string]replaced) // an attempt that was cut may have kept a file that the next one kept again
		var names []string
		for _, line := range readKept(root, entry) {
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
			if err := undoOne(root, entry, first[name], last[name]); err == nil {
				u.back++
			} else if len(u.problems) < maxProblems {
				u.problems = append(u.problems, protocol.TransferProblem{Path: strings.ToValidUTF8(name, "�"), Text: err.Error()})
			}
		}
	}
	return u
}

func undoOne(root *os.Root, entry string, n int, line replaced) error {
	old, away := path.Join(entry, strconv.Itoa(n)), path.Join(entry, strconv.Itoa(n)+".new")
	if err := plainParents(root, path.Dir(line.Name)); err != nil {
		return err
	}
	now, err := root.Lstat(line.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reason(root.Rename(old, line.Name))
	case err != nil:
		return reason(err)
	}
	if was, err := root.Lstat(old); err == nil && os.SameFile(was, now) { // it was kept, and then not replaced
		return reason(root.Remove(old))
	}
	link := ""
	if now.Mode()&fs.ModeSymlink != 0 {
		link, _ = root.Readlink(line.Name)
	}
	if link != line.Link || link == "" && (!now.Mode().IsRegular() || now.Size() != line.Size || now.ModTime().UnixNano() != line.Mtime) {
		return fmt.Errorf("it was changed since, so nothing was done; what was there before is %s", old)
	}
	if root.Link(line.Name, away) != nil {
		if err := root.Rename(line.Name, away); err != nil {
			return reason(err)
		}
	}
	return reason(root.Rename(old, line.Name))
}

// plainParents sees that no folder down to dir is a symbolic link.
func plainParents(root *os.Root, dir string) error {
	for ; dir != "."; dir = path.Dir(dir) {
		switch info, err := root.Lstat(dir); {
		case err != nil:
			return reason(err)
		case !info.IsDir():
			return fmt.Errorf("%s is no folder any more", dir)
		}
	}
	return nil
}
