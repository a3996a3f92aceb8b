package stream

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// The source folder is renamed or removed while its files are sent.
func TestASourceFolderThatIsMovedOrRemovedSendsNothingWrong(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a folder that is open has its name for good there")
	}
	for what, act := range map[string]func(dir string) error{
		"renamed": func(dir string) error { return os.Rename(dir, dir+"-elsewhere") },
		"removed": os.RemoveAll,
		"another in its place": func(dir string) error {
			err := os.Rename(filepath.Join(dir, "000"), filepath.Join(dir, "old"))
			return errors.Join(err, os.Mkdir(filepath.Join(dir, "000"), 0o755), os.WriteFile(filepath.Join(dir, "000", "00059"), []byte("other"), 0o644))
		},
	} {
		t.Run(what, func(t *testing.T) {
			item, dir := files(t, 60, 100<<10)
			want := sums(t, dir)
			to := t.TempDir()
			res, sendErr, err := connectBoth(t, []Item{item}, open(t, to), nil, func(n int) bool {
				if n == behind {
					if err := act(dir); err != nil {
						t.Error(what, err)
					}
				}
				return false
			})
			os.RemoveAll(dir + "-elsewhere")
			if sendErr != nil || err != nil || res.New+res.Failed != 60 {
				t.Fatalf("%s: got %+v, %v, %v; want no send error, no error and New + Failed 60", what, res, sendErr, err)
			}
			for name, sum := range sums(t, filepath.Join(to, "tree")) {
				if sum != want[name] && !(what == "another in its place" && strings.HasSuffix(name, "00059")) {
					t.Errorf("%s: %s is another file", what, name)
				}
			}
			if what == "renamed" && res.Failed != 0 {
				t.Errorf("%s: got %+v, want no failed files", what, res)
			}
		})
	}
}

// The receiver stops after the last byte is on the disk, but before the file has its name: the next
// attempt sends none of it again, and the replaced file is retained.
func TestAFileThatLacksOnlyItsNameIsNotSentAgain(t *testing.T) {
	x := newResumer(t)
	x.conflict = protocol.ConflictOverwrite
	const size = 20 << 20
	writeLongFile(t, filepath.Join(x.from, "f"), size)
	put(t, "old", x.to, "f")
	// The receiver is stopped where the record with the checksum would come.
	x.set = func(s *Sender, r *Receiver) {
		out := s.Out
		s.Out = func(ctx context.Context, f *Frame) error {
			at, end := 0, false
			records(f.Body(), func(kind byte, payload []byte) error {
				if end = end || kind == recFile; !end {
					at += recHead + len(payload)
				}
				return nil
			})
			if !end {
				return out(ctx, f)
			}
			f.buf = f.buf[:idSize+at]
			err := out(ctx, f)
			r.In.Close(errCut)
			s.In.Close(errCut)
			return errors.Join(err, errCut)
		}
	}
	if _, err := x.attempt(0); !errors.Is(err, errCut) {
		t.Fatalf("got %v; want the error errCut", err)
	}
	if got := x.part(); got != size {
		t.Fatalf("%d bytes are there, want %d", got, size)
	}
	if got := get(t, x.to, "f"); got != "old" {
		t.Errorf("it is %q, want the old file", got)
	}
	x.set = nil
	res, err := x.attempt(0)
	if err != nil || x.sent > 1<<10 || res.Replaced != 1 {
		t.Errorf("%v: %d bytes were sent, %+v; want at most 1024 and one file replaced", err, x.sent, res)
	}
	x.same("f")
	if u := undo(open(t, x.to), "t1"); u.Back != 1 || get(t, x.to, "f") != "old" {
		t.Errorf(`got %+v; want Back 1, and "old" in the file`, u)
	}
}
