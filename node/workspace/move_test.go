package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/peer/format"
)

func text(name string) string {
	data, err := os.ReadFile(name)
	if err != nil {
		return "<" + format.WithoutPath(err).Error() + ">"
	}
	return string(data)
}

func TestMoveReplacesNothing(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	dir := r.Dir()
	put(t, filepath.Join(dir, "a"), "A")
	put(t, filepath.Join(dir, "b"), "B")
	put(t, filepath.Join(dir, "d/x"), "X")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"a", "b"}, {"a", "d"}, {"d", "a"}, {"d", "empty"}, {"a", "empty"}} {
		if _, err := r.Entries().Move(resolve(t, r, c[0]), resolve(t, r, c[1])); !errors.Is(err, ErrExists) {
			t.Errorf("%v: got %v; want the error ErrExists", c, err)
		}
	}
	if at, err := r.Entries().Move(resolve(t, r, "a"), resolve(t, r, "d/a2")); err != nil || at.Abs != filepath.Join(dir, "d/a2") {
		t.Errorf("into a folder: %v, %v", at, err)
	}
	if _, err := r.Entries().Move(resolve(t, r, "d"), resolve(t, r, "e")); err != nil || text(filepath.Join(dir, "e/a2")) != "A" || text(filepath.Join(dir, "b")) != "B" {
		t.Errorf("a folder: %v; want no error", err)
	}
	for _, c := range [][3]string{
		{"e", "e/f", "into itself"},
		{"nothing", "f", "no such file"},
		{"b", "missing/b", "no such file"},
		{".", "f", "into itself"},
		{"b", ".fairlead-trash", "reserved for Fairlead"},
	} {
		if _, err := r.Entries().Move(resolve(t, r, c[0]), resolve(t, r, c[1])); err == nil || !strings.Contains(err.Error(), c[2]) && runtime.GOOS != "windows" {
			t.Errorf(`%v: got %v; want an error with %v or GOOS "windows"`, c, err, c[2])
		}
	}
}

func TestConcurrentMovesLoseNothing(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	dir := r.Dir()
	for i := range 8 {
		put(t, filepath.Join(dir, fmt.Sprint("from", i)), fmt.Sprint(i))
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 8 {
		wg.Go(func() {
			_, err := r.Entries().Move(Path{Abs: filepath.Join(dir, fmt.Sprint("from", i))}, Path{Abs: filepath.Join(dir, "to")})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, ErrExists) {
				t.Errorf("got %v; want the error ErrExists", err)
			}
		})
	}
	wg.Wait()
	names, err := os.ReadDir(dir)
	if won != 1 || err != nil || len(names) != 8 {
		t.Errorf("got %d winners, %d files, error %v, want 1, 8", won, len(names), err)
	}
}

func TestMkdirLeavesExistingFolders(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	dir := r.Dir()
	put(t, filepath.Join(dir, "file"), "text")
	if _, err := r.Entries().Mkdir(resolve(t, r, "file")); !errors.Is(err, ErrExists) || text(filepath.Join(dir, "file")) != "text" {
		t.Errorf(`got %v; want error ErrExists and text of Join of dir, "file" "text"`, err)
	}
	if p, err := r.Entries().Mkdir(resolve(t, r, "new")); err != nil || p.Abs != filepath.Join(dir, "new") {
		t.Errorf("got %v, error %v, want the folder new", p, err)
	}
}

func TestTrashRestoresEntries(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	dir := r.Dir()
	put(t, filepath.Join(dir, "sub/a.txt"), "A")
	put(t, filepath.Join(dir, "sub/deep/b.txt"), "B")
	file, err := r.Entries().Trash(resolve(t, r, "sub/a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := r.Entries().Trash(resolve(t, r, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "sub")); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	// The file's folder is made again; the folder itself is then in its way.
	if p, err := r.Entries().Restore(file); err != nil || p.Abs != filepath.Join(dir, "sub/a.txt") || text(p.Abs) != "A" {
		t.Errorf("got %v, error %v, want the file at its place", p, err)
	}
	if _, err := r.Entries().Restore(folder); !errors.Is(err, ErrExists) {
		t.Errorf("over another: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Entries().Restore(folder); err != nil || text(filepath.Join(dir, "sub/deep/b.txt")) != "B" {
		t.Errorf("the folder: %v; want no error", err)
	}
	for _, id := range []string{folder, "", "..", "../x", "123-none"} {
		if _, err := r.Entries().Restore(id); err == nil {
			t.Errorf("%q: got no error, want one", id)
		}
	}
	d, err := r.OpenDir(resolve(t, r, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var names []string
	d.Infos(func(i Info) bool { names = append(names, i.Name); return true })
	if len(names) != 1 || names[0] != "sub" {
		t.Errorf("got %v, want sub alone, without the trash", names)
	}
}

func TestTrashIsEmptiedAfterThirtyDays(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	dir := r.Dir()
	put(t, filepath.Join(dir, "old/x"), "X")
	id, err := r.Entries().Trash(resolve(t, r, "old"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Entries().SweepTrash(time.Now().Add(TrashAge - time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, trashName, id, "old/x")); err != nil {
		t.Errorf("too early: %v", err)
	}
	if err := r.Entries().SweepTrash(time.Now().Add(TrashAge + time.Minute)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, trashName)); err != nil || len(left) != 1 || left[0].Name() != ".gitignore" {
		t.Errorf(`left: got %v, %v; want no error, length 1 and left[0].Name ".gitignore"`, left, err)
	}
}

func TestNoOperationLeavesTheWorkspace(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	dir := r.Dir()
	out := t.TempDir()
	put(t, filepath.Join(out, "mine"), "M")
	put(t, filepath.Join(dir, "a"), "A")
	link(t, out, filepath.Join(dir, "way"))
	var outside *OutsideError
	inside := Path{Abs: filepath.Join(dir, "a")}
	if _, err := r.Entries().Move(inside, Path{Abs: filepath.Join(dir, "way/a")}); !errors.As(err, &outside) {
		t.Errorf("moved out: %v", err)
	}
	if _, err := r.Entries().Move(Path{Abs: filepath.Join(dir, "way/mine")}, Path{Abs: filepath.Join(dir, "m")}); !errors.As(err, &outside) {
		t.Errorf("moved in: %v", err)
	}
	if _, err := r.Entries().Trash(Path{Abs: filepath.Join(dir, "way/mine")}); !errors.As(err, &outside) {
		t.Errorf("to the trash: %v", err)
	}
	if _, err := r.Entries().Mkdir(Path{Abs: filepath.Join(dir, "way/new")}); !errors.As(err, &outside) {
		t.Errorf("made: got %v, want an error of type *OutsideError", err)
	}
	// The link itself may be renamed and deleted: that touches nothing outside.
	if _, err := r.Entries().Trash(Path{Abs: filepath.Join(dir, "way")}); err != nil || text(filepath.Join(out, "mine")) != "M" {
		t.Errorf("the link: %v; want no error", err)
	}
	ro, err := Config{Dir: dir, Grants: []Grant{{Dir: out, ReadOnly: true}}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	var readOnly *ReadOnlyError
	if _, err := ro.Entries().Trash(Path{Abs: filepath.Join(ro.Config().Grants[0].Dir, "mine")}); !errors.As(err, &readOnly) {
		t.Errorf("from a folder that is read-only: %v", err)
	}
}
