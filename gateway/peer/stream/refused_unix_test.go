//go:build unix

package stream

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"fairlead/gateway/protocol"
)

// TestRequestedFileThatCannotBeSentFails: a pipe in a folder is omitted, but a pipe that was
// requested itself is a failure.
func TestRequestedFileThatCannotBeSentFails(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(filepath.Join(dir, "f"), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	root := open(t, dir)
	res, sendErr, err := connectBoth(t, []Item{{Root: root, At: "pipe", Name: "pipe"}, {Root: root, At: "f", Name: "f"}}, open(t, to), nil, nil)
	if sendErr != nil || err != nil || res.New != 1 || res.Failed != 1 || len(res.Problems) != 1 || res.Problems[0].Text != "it is a named pipe" {
		t.Errorf(`got %+v, %v, %v; want no send error, no error, New 1, Failed 1, Problems of length 1 and Problems[0].Text "it is a named pipe"`, res, sendErr, err)
	}
	res, sendErr, err = connectBoth(t, []Item{{Root: root, At: ".", Name: "tree"}}, open(t, to), nil, nil)
	if sendErr != nil || err != nil || res.New != 1 || res.Failed != 0 || len(res.Problems) != 1 {
		t.Errorf("in a folder: got %+v, %v, %v; want one new file with one problem", res, sendErr, err)
	}
}

// TestFailuresAreListedBeforeSkippedFiles: the first problem is the reason for the failure of a
// transfer, and the list may be cut off.
func TestFailuresAreListedBeforeSkippedFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range maxProblems + 5 {
		if err := syscall.Mkfifo(filepath.Join(dir, fmt.Sprintf("a pipe %02d", i)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	to := t.TempDir()
	for _, name := range []string{"new", "other", "z"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(to, "tree", name), 0o700); name != "z" && err != nil {
			t.Fatalf(`got %v; want name "z" or no error`, err)
		}
	}
	os.Remove(filepath.Join(to, "tree", "z"))
	res, sendErr, err := connectBoth(t, []Item{{Root: open(t, dir), At: ".", Name: "tree"}}, open(t, to), func(_ *Sender, r *Receiver) { r.Conflict = protocol.ConflictOverwrite }, nil)
	if sendErr != nil || err != nil || res.Failed != 2 || res.New != 1 || len(res.Problems) != maxProblems {
		t.Fatalf("got %+v, %v, %v; want no send error, no error, Failed 2, New 1 and Problems of length %v", res, sendErr, err, maxProblems)
	}
	for i, want := range []string{"tree/new", "tree/other", "tree/a pipe 00"} {
		if res.Problems[i].Path != want {
			t.Errorf("problem %d: got %+v, want %s", i, res.Problems[i], want)
		}
	}
}
