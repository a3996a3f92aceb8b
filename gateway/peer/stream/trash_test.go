package stream

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func put(t *testing.T, text string, at ...string) {
	t.Helper()
	name := filepath.Join(at...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, at ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(at...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sendOverExisting sends a folder named tree over existing files.
func sendOverExisting(t *testing.T, from string, to *os.Root, id protocol.TransferID) Result {
	t.Helper()
	res, sendErr, err := connectBoth(t, []Item{{Root: open(t, from), At: ".", Name: "tree"}}, to, func(_ *Sender, r *Receiver) {
		r.Conflict, r.Transfer = protocol.ConflictOverwrite, id
	}, nil)
	if err != nil || sendErr != nil {
		t.Fatalf("got %v, %v; want no error and no send error", err, sendErr)
	}
	return res
}

func TestTheTrashIsNeitherSentNorReceived(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	put(t, "x", from, "a")
	put(t, "deleted", from, trashName, "1-x", "a")
	sendOverExisting(t, from, open(t, to), "t")
	if _, err := os.Stat(filepath.Join(to, "tree", trashName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was sent: %v", err)
	}
	for _, name := range []string{trashName, ".Fairlead-Trash/x", "a/" + trashName + "/1-t0011223344556677/list"} {
		if CheckName("linux", name) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// trashOf opens the trash entry of a transfer.
func trashOf(t *testing.T, root *os.Root, id protocol.TransferID) *trashEntry {
	t.Helper()
	k, err := openTrashEntry(root, id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.list.Close() })
	return k
}

// Of two attempts, the first was interrupted between retaining the old file and replacing it: undo
// restores the state before both.
func TestFilesFromBeforeTheFirstAttemptAreRestored(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	root := open(t, to)
	put(t, "new", from, "a")
	put(t, "old", to, "tree", "a")
	if _, err := trashOf(t, root, "t").add(replacedFile{Name: "tree/a", Size: 3}); err != nil {
		t.Fatal(err)
	}
	if res := sendOverExisting(t, from, root, "t"); res.Replaced != 1 {
		t.Errorf("got %+v; want Replaced 1", res)
	}
	// A crash in the middle of a line.
	entry := path.Join(trashName, trashEntries(root)[0])
	f, err := root.OpenFile(path.Join(entry, trashList), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"n":7,"name":"tr`)
	f.Close()
	if u := undo(root, "t"); u.Back != 1 || len(u.Problems) != 0 {
		t.Errorf("got %+v; want Back 1 and no Problems", u)
	}
	if got := get(t, to, "tree", "a"); got != "old" {
		t.Errorf("it is %q, want the old file", got)
	}
	// A forged list: nothing outside is touched, and no link is followed.
	put(t, "precious", to, "precious")
	if err := os.Symlink(t.TempDir(), filepath.Join(to, "out")); err != nil && os.PathSeparator == '/' {
		t.Fatalf("got %v, want no error", err)
	}
	list := ""
	for i, name := range []string{"../x", "/etc/x", "out/x", "a\x00b", trashName + "/x"} {
		list += fmt.Sprintf("{\"n\":%d,\"name\":%q}\n", i, name)
		put(t, "planted", to, entry, fmt.Sprint(i))
	}
	put(t, list, to, entry, trashList)
	if u := undo(root, "t"); u.Back != 0 {
		t.Errorf("got %+v; want Back 0", u)
	}
}

func TestReplacedFilesExpire(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	root := open(t, to)
	l := OpenUnfinished(t.TempDir())
	keep := func(id protocol.TransferID, at time.Time, size int) {
		t.Helper()
		put(t, "new"+string(id), from, "a")
		if err := os.WriteFile(filepath.Join(to, "a"), bytes.Repeat([]byte("x"), size), 0o644); err != nil {
			t.Fatal(err)
		}
		k := trashOf(t, root, id)
		if _, err := k.add(replacedFile{Name: "a"}); err != nil {
			t.Fatal(err)
		}
		k.list.Close()
		if err := root.Rename(k.entry, path.Join(trashName, fmt.Sprint(at.UnixMilli(), trashSuffix(id)))); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	keep("old", now.Add(-TrashAge-time.Hour), 10)
	keep("young", now.Add(-time.Hour), 10)
	put(t, "the person's", to, trashName, fmt.Sprint(now.Add(-time.Hour).UnixMilli(), "-abcdefgh"), "x")
	put(t, "no time", to, trashName, "notes-t0011223344556677", "x")
	l.addTrash(to)
	l.sweepTrash(disk{to})
	if list := trashEntries(root); len(list) != 1 || list[0] != fmt.Sprint(now.Add(-time.Hour).UnixMilli(), trashSuffix("young")) {
		t.Errorf("left: got %v; want length 1 and list[0] %v", list, fmt.Sprint(now.Add(-time.Hour).UnixMilli(), trashSuffix("young")))
	}
	get(t, to, trashName, "notes-t0011223344556677", "x")
	// The oldest entry is removed when the limit is exceeded; the entry in use stays.
	keep("middle", now.Add(-time.Minute), 3000)
	keep("now", now, 3000)
	k := trashOf(t, root, "now")
	if n := shrinkTrash(root, now.Add(-TrashAge), 4000, path.Base(k.entry)); n > 4000 || len(trashEntries(root)) != 1 {
		t.Errorf("%d bytes are left in %v", n, trashEntries(root))
	}
	// A file that is larger than the limit is not retained, but replaced anyway.
	if err := os.Truncate(filepath.Join(to, "a"), maxTrash+1); err != nil {
		t.Fatal(err)
	}
	if _, err := k.add(replacedFile{Name: "a"}); err == nil {
		t.Error("it is kept")
	}
	// A full disk gets the space, and an empty trash is removed.
	if !removeOldestTrash(root) || removeOldestTrash(root) {
		t.Errorf("got entries %v, want one entry removed and none after that", trashEntries(root))
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(to, trashName, "notes-t0011223344556677")), os.RemoveAll(filepath.Join(to, trashName, fmt.Sprint(now.Add(-time.Hour).UnixMilli(), "-abcdefgh")))); err != nil {
		t.Fatal(err)
	}
	l.sweepTrash(disk{to})
	if _, err := os.Stat(filepath.Join(to, trashName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty trash stays: %v", err)
	}
	if list, _ := os.ReadDir(filepath.Join(l.dir, "trash")); len(list) != 0 {
		t.Errorf("noted: got %v, want none", list)
	}
}

func TestSweepKeepsRecentlyUsedFiles(t *testing.T) {
	home := t.TempDir()
	l := OpenUnfinished(t.TempDir())
	mark := partPrefixOf("t")
	part := filepath.Join(home, mark+"1.part")
	old := time.Now().Add(-2 * PartAge)
	put(t, "x", part)
	l.addFolder(mark, home)
	if err := errors.Join(os.Chtimes(part, old, old), os.Chtimes(l.path(mark), old, old)); err != nil {
		t.Fatal(err)
	}
	l.touch(mark)
	if n := l.Sweep(disk{home}, time.Now().Add(-PartAge)); n != 0 {
		t.Error("what was begun lately was removed")
	}
}
