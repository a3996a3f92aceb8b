package logfile

import (
	"fmt"
	"os"
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
		t.Errorf("empty log: %v %v %v", lines, more, err)
	}
	l.max = 100
	for i := range 200 {
		if _, err := fmt.Fprintf(l, "{\"line\":%03d}\n", i); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != keep {
		t.Errorf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Size() > 100 || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %d bytes, mode %v, %v", f.Name(), info.Size(), info.Mode(), err)
		}
	}
	for _, n := range []int{1, 7, 8, 20} {
		lines, more, err := l.Last(n)
		if err != nil || len(lines) != n || !more || lines[n-1] != `{"line":199}` || lines[0] != fmt.Sprintf(`{"line":%03d}`, 200-n) {
			t.Errorf("last %d = %v %v %v", n, lines, more, err)
		}
	}
	all, more, err := l.Last(5000)
	if err != nil || more || len(all) < 5*6 || len(all) > 5*8 {
		t.Errorf("all: %d lines %v %v", len(all), more, err)
	}
	// It goes on where it ended.
	l.Close()
	if l, err = Open(dir, "x.log"); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(l, `{"line":200}`)
	if lines, _, _ := l.Last(2); strings.Join(lines, "") != `{"line":199}{"line":200}` {
		t.Errorf("after reopening: %v", lines)
	}
}
