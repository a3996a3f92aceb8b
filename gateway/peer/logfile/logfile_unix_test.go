//go:build unix

package logfile

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
)

func TestNoOlderLogIsLostWhileTheNextCannotBeOpened(t *testing.T) {
	l := newFullLog(t, t.TempDir())
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Skip("the number of open files cannot be limited here:", err)
	}
	failed := 0
	for range 20 {
		if _, err := fmt.Fprintln(l, "lost"); err != nil {
			failed++
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if failed != 20 {
		t.Errorf("%d of 20 lines could not be written", failed)
	}
	fmt.Fprintln(l, `{"line":203}`)
	lines, _, err := l.Last(5000)
	if want := lineNumbers(175, 204); err != nil || !slices.Equal(lines, want) {
		t.Errorf("%v %v, want %v", lines, err, want)
	}
}
