package stream

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// early lets the sender start before the receiver has answered.
func early(s *Sender, r *Receiver) { s.Early, r.Early = Early, Early }

func TestWhatIsSentBeforeTheReceiverHasSpokenHarmsNothingThatIsThere(t *testing.T) {
	for what, c := range map[string]struct {
		before   func(t *testing.T, x *resumer)
		conflict string
		sent     int64 // maximum number of bytes
		want     Result
		name     string
	}{
		"nothing is there": {func(*testing.T, *resumer) {}, protocol.ConflictRename, 21 << 20, Result{New: 1}, "f"},
		"a part is there": {func(t *testing.T, x *resumer) {
			if _, err := x.attempt(15 << 20); !errors.Is(err, errCut) {
				t.Fatal(err)
			}
		}, protocol.ConflictRename, 10<<20 + Window, Result{New: 1}, "f"},
		"the same file is there": {func(t *testing.T, x *resumer) {
			if _, err := x.attempt(0); err != nil {
				t.Fatal(err)
			}
		}, protocol.ConflictRename, Window + 4096, Result{Skipped: 1}, "f"},
		"another file of the same size is there": {func(t *testing.T, x *resumer) {
			if err := os.WriteFile(filepath.Join(x.to, "f"), make([]byte, 20<<20), 0o600); err != nil {
				t.Fatal(err)
			}
		}, protocol.ConflictRename, 21<<20 + Window, Result{New: 1}, "f (2)"},
		"it is not wanted": {func(t *testing.T, x *resumer) {
			if _, err := x.attempt(0); err != nil {
				t.Fatal(err)
			}
		}, protocol.ConflictSkip, Window + 4096, Result{Skipped: 1}, "f"},
	} {
		t.Run(what, func(t *testing.T) {
			x := newResumer(t)
			long(t, filepath.Join(x.from, "f"), 20<<20)
			c.before(t, x)
			x.conflict, x.set = c.conflict, early
			res, err := x.attempt(0)
			if err != nil || res.New != c.want.New || res.Skipped != c.want.Skipped || res.Failed != 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			if x.sent > c.sent {
				t.Errorf("%d bytes were sent", x.sent)
			}
			x.same(c.name)
		})
	}
}

// The source changes a file while it is sent on a guess.
func TestAFileThatChangesAfterAGuessArrivesAsItIsThen(t *testing.T) {
	x := newResumer(t)
	name := filepath.Join(x.from, "f")
	long(t, name, 20<<20)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	x.set = early
	x.frame = func(n int) {
		if n == 5 {
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteAt([]byte("other"), 100)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	if res, err := x.attempt(0); err != nil || res.New != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	x.same("f")
}
