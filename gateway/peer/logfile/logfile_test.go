package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLogRotates(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir, "x.log")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { l.Close() }()
	if lines, more, err := l.Last(5); err != nil || len(lines) != 0 || more {
		t.Errorf("empty log: got %v %v %v, want no lines", lines, more, err)
	}
	l.max = 100
	for i := range 200 {
		if _, err := fmt.Fprintf(l, "{\"line\":%03d}\n", i); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != keep {
		t.Errorf("got %d files, %v; want no error and length %v", len(files), err, keep)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Size() > 100 || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: got %d bytes, mode %v, %v; want at most 100 for the owner alone", f.Name(), info.Size(), info.Mode(), err)
		}
	}
	for _, n := range []int{1, 7, 8, 20} {
		lines, more, err := l.Last(n)
		if err != nil || len(lines) != n || !more || lines[n-1] != `{"line":199}` || lines[0] != fmt.Sprintf(`{"line":%03d}`, 200-n) {
			t.Errorf("last %d: got %v %v %v; want the newest lines, and more", n, lines, more, err)
		}
	}
	all, more, err := l.Last(5000)
	if err != nil || more || len(all) < 5*6 || len(all) > 5*8 {
		t.Errorf("all: got %d lines %v %v, want 30 to 40", len(all), more, err)
	}
	// A reopened log is continued.
	l.Close()
	if l, err = Open(dir, "x.log"); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(l, `{"line":200}`)
	if lines, _, _ := l.Last(2); strings.Join(lines, "") != `{"line":199}{"line":200}` {
		t.Errorf("after reopening: got %v, want lines 199 and 200", lines)
	}
}

func TestALogWhoseFolderWasRemovedGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	l := newFullLog(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Skip("open files cannot be removed here:", err)
	}
	fmt.Fprintln(l, `{"line":203}`)
	if lines, _, err := l.Last(5000); err != nil || strings.Join(lines, "") != `{"line":203}` {
		t.Errorf("got %v %v; want no error and lines `{\"line\":203}`", lines, err)
	}
}

// TestARotationGoesOnWhereOneStopped: the current file could not be moved, as on Windows while
// another program reads it.
func TestARotationGoesOnWhereOneStopped(t *testing.T) {
	l := newFullLog(t, t.TempDir())
	if err := os.Remove(l.old(1)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(l, `{"line":203}`)
	lines, _, err := l.Last(5000)
	if want := lineNumbers(168, 189, 196, 204); err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v %v, want %v", lines, err, want)
	}
}

// newFullLog returns a log with the maximum number of files, each with seven lines, whose next line
// causes a rotation.
func newFullLog(t *testing.T, dir string) *File {
	t.Helper()
	l, err := Open(dir, "x.log")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	l.max = 7 * 13
	for i := range 203 {
		fmt.Fprintf(l, "{\"line\":%03d}\n", i)
	}
	return l
}

// lineNumbers returns the lines of full with the numbers in the given ranges (from, to).
func lineNumbers(pairs ...int) (list []string) {
	for i := 0; i < len(pairs); i += 2 {
		for n := pairs[i]; n < pairs[i+1]; n++ {
			list = append(list, fmt.Sprintf(`{"line":%03d}`, n))
		}
	}
	return list
}
