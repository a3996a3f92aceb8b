package workspace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func openDirTest(t *testing.T, r *Root, name string) *Dir {
	t.Helper()
	d, err := r.OpenDir(resolve(t, r, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func TestDirListsItsEntries(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	var want []string
	for i := range 3000 {
		name := fmt.Sprintf("%s%d", strings.Repeat("n", i%100), i)
		put(t, filepath.Join(r.Dir(), "d", name), "x")
		want = append(want, "file "+name)
	}
	put(t, filepath.Join(r.Dir(), "d", "sub", "f"), "x")
	want = append(want, "dir sub")
	if err := os.Symlink("sub", filepath.Join(r.Dir(), "d", "link")); err == nil {
		want = append(want, "link link")
	}
	var got []string
	d := openDirTest(t, r, "d")
	if err := d.Each(func(e Entry) bool {
		kind := "file "
		switch {
		case e.IsDir():
			kind = "dir "
		case e.IsLink():
			kind = "link "
		case e.Type != 0:
			kind = "other "
		}
		got = append(got, kind+e.Name)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
	n := 0
	if err := openDirTest(t, r, "d").Each(func(Entry) bool { n++; return n < 5 }); err != nil || n != 5 {
		t.Errorf("got %d entries, error %v, want 5", n, err)
	}
}

func TestADirectoryOpensItsOwnOnly(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	out := t.TempDir()
	put(t, filepath.Join(out, "f"), "outside")
	put(t, filepath.Join(r.Dir(), "f"), "above")
	put(t, filepath.Join(r.Dir(), "d", "f"), "inside")
	put(t, filepath.Join(r.Dir(), "d", "sub", "f"), "below")
	for name, to := range map[string]string{"out": out, "outfile": filepath.Join(out, "f"), "up": "..", "in": "sub", "infile": "f"} {
		if err := os.Symlink(to, filepath.Join(r.Dir(), "d", name)); err != nil {
			t.Skipf("this system lets nobody make symbolic links here: %v", err)
		}
	}
	d := openDirTest(t, r, "d")
	for _, name := range []string{"", ".", "..", "../d", "sub/f", "../f", "out", "up", "in", "out/f", "f\x00", filepath.Join(r.Dir(), "d"), "none", "f"} {
		if sub, err := d.Sub(name); err == nil {
			sub.Close()
			t.Errorf("folder %q: got no error, want one", name)
		}
	}
	for _, name := range []string{"", ".", "..", "../f", "sub/f", "outfile", "infile", "out/f", "sub", "f\x00", filepath.Join(out, "f"), "none"} {
		if f, err := d.Open(name); err == nil {
			f.Close()
			t.Errorf("file %q: got no error, want one", name)
		}
	}
	sub, err := d.Sub("sub")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if want := filepath.Join(r.Dir(), "d", "sub"); sub.Abs != want {
		t.Errorf("%s, want %s", sub.Abs, want)
	}
	f, err := sub.Open("f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	part := make([]byte, 3)
	n, partErr := f.ReadAt(part, 2)
	if _, endErr := f.ReadAt(part, 9); err != nil || partErr != nil || endErr != io.EOF || string(text) != "below" || f.Size != 5 || string(part[:n]) != "low"[:n] {
		t.Errorf("got %q, %v; %q, %v; %v, want below, its part low, and EOF", text, err, part, partErr, endErr)
	}
	info, err := os.Lstat(filepath.Join(r.Dir(), "d", "sub", "f"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := sub.Info("f"); err != nil || !got.Time.Equal(info.ModTime()) {
		t.Errorf("got %v, error %v, want the time %v", got, err, info.ModTime())
	}
	if _, err := sub.Info("none"); err == nil {
		t.Error("what is not there has a time")
	}
}
