package stream

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// writeLongFile creates a file of size bytes without repetitions.
func writeLongFile(t *testing.T, name string, size int64) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.CopyN(f, rand.NewChaCha8([32]byte{1}), size); err != nil {
		t.Fatal(err)
	}
}

func hashOf(t *testing.T, name string) (sum [32]byte) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return [32]byte(h.Sum(nil))
}

// resumer runs one transfer of one file in several attempts.
type resumer struct {
	t        *testing.T
	from, to string      // folders
	out, in  checkpoints // of the ends
	conflict string
	set      func(*Sender, *Receiver) // may be nil
	sent     int64                    // number of the sender's bytes in the last attempt
	frame    func(n int)              // called for each frame of the sender; may be nil
	as       func(func())             // runs both ends; may be nil
	s        *Sender
	r        *Receiver
}

func newResumer(t *testing.T) *resumer {
	minFileAge = 0 // the files were just created
	t.Cleanup(func() { minFileAge = 2 * time.Second })
	return &resumer{t: t, from: inMemory(t), to: inMemory(t), out: make(checkpoints), in: make(checkpoints), conflict: protocol.ConflictRename}
}

// attempt sends "f" until so many bytes are in flight; all of it if bytes is 0.
func (x *resumer) attempt(bytes int64) (Result, error) {
	x.t.Helper()
	sent := int64(0)
	cut := func(n int) bool {
		if x.frame != nil {
			x.frame(n)
		}
		sent += maxBody
		return bytes > 0 && sent > bytes
	}
	as := x.as
	if as == nil {
		as = func(f func()) { f() }
	}
	res, sendErr, err := connectBothAs(x.t, []Item{{Root: open(x.t, x.from), At: "f", Name: "f"}}, open(x.t, x.to), func(s *Sender, r *Receiver) {
		x.s, x.r, x.sent = s, r, 0
		send := s.Out
		s.Out = func(ctx context.Context, f *Frame) error {
			x.sent += int64(len(f.Body()))
			return send(ctx, f)
		}
		s.checkpoints, r.checkpoints, r.Conflict = x.out, x.in, x.conflict
		if x.set != nil {
			x.set(s, r)
		}
	}, cut, as)
	if err == nil && sendErr != nil {
		err = sendErr
	}
	return res, err
}

func (x *resumer) part() int64 {
	x.t.Helper()
	info, err := os.Stat(filepath.Join(x.to, partName("t1", "f")))
	if err != nil {
		x.t.Fatal(err)
	}
	return info.Size()
}

// same checks that the file with a name equals the source.
func (x *resumer) same(name string) {
	x.t.Helper()
	if hashOf(x.t, filepath.Join(x.from, "f")) != hashOf(x.t, filepath.Join(x.to, name)) {
		x.t.Errorf("%s is another file", name)
	}
}

func TestInterruptionCostsOneCheckpointNotTheFile(t *testing.T) {
	x := newResumer(t)
	const size, each = 256<<20 + 4321, 20 << 20
	writeLongFile(t, filepath.Join(x.from, "f"), size)
	had := int64(0)
	attempts := 1
	for ; ; attempts++ {
		_, err := x.attempt(each + Window)
		if x.s.rehashed > checkpointEvery || x.r.rehashed > checkpointEvery {
			t.Errorf("attempt %d, from %d MiB: the source hashed %d bytes again, the destination %d", attempts, had>>20, x.s.rehashed, x.r.rehashed)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, errCut) || attempts > 20 {
			t.Fatalf("got %v, %v; want error errCut and attempts at most 20", attempts, err)
		}
		now := x.part()
		if now < had+each {
			t.Errorf("attempt %d: got %d bytes further, want at least %d", attempts, now-had, each)
		}
		had = now
	}
	if attempts < 10 {
		t.Errorf("it took %d attempts only, want at least 10", attempts)
	}
	x.same("f")
}

func TestArrivedFileIsKnownAfterALostConfirmation(t *testing.T) {
	for _, taken := range []bool{false, true} {
		x := newResumer(t)
		writeLongFile(t, filepath.Join(x.from, "f"), 20<<20)
		name := "f"
		if taken { // it gets a numbered name
			name = "f (2)"
			if err := os.WriteFile(filepath.Join(x.to, "f"), []byte("other"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if res, err := x.attempt(0); err != nil || res.New != 1 || res.Top != name {
			t.Fatalf("got %v, %v; want no error, New 1 and Top %v", res, err, name)
		}
		res, err := x.attempt(0)
		if err != nil || res.Skipped != 1 || res.New != 0 || res.Files != 1 || res.Top != name {
			t.Fatalf("got %+v, %v; want no error, Skipped 1, New 0, Files 1 and Top %v", res, err, name)
		}
		if x.s.rehashed != 0 || x.r.rehashed != 0 || x.sent > 1<<10 {
			t.Errorf("taken %v: the source hashed %d bytes again, the destination %d; %d were sent", taken, x.s.rehashed, x.r.rehashed, x.sent)
		}
		x.same(name)
	}
}

// markKilled makes the last attempt look like one whose receiver was killed.
func markKilled(x *resumer) { clear(x.in) }

func TestAPartWhoseWriterWasKilledIsHashedOnce(t *testing.T) {
	x := newResumer(t)
	writeLongFile(t, filepath.Join(x.from, "f"), 60<<20)
	if _, err := x.attempt(40 << 20); !errors.Is(err, errCut) {
		t.Fatalf("got %v; want the error errCut", err)
	}
	markKilled(x)
	part := x.part()
	if _, err := x.attempt(maxBody); !errors.Is(err, errCut) || x.r.rehashed != part { // interrupted before anything more is written
		t.Fatalf("%v: %d bytes of %d were hashed again", err, x.r.rehashed, part)
	}
	if _, err := x.attempt(0); err != nil || x.r.rehashed > checkpointEvery || x.sent > 60<<20-part+1<<20 {
		t.Errorf("%v: the second time %d bytes were hashed again, and %d were sent", err, x.r.rehashed, x.sent)
	}
	x.same("f")
}

// The part file is changed after it was hashed, and before the next data arrives.
func TestResumeDetectsAChangedPart(t *testing.T) {
	x := newResumer(t)
	writeLongFile(t, filepath.Join(x.from, "f"), 24<<20)
	if _, err := x.attempt(20 << 20); !errors.Is(err, errCut) {
		t.Fatalf("got %v; want the error errCut", err)
	}
	x.frame = func(n int) {
		if n != 2 { // the first frame announces the file
			return
		}
		f, err := os.OpenFile(filepath.Join(x.to, partName("t1", "f")), os.O_RDWR, 0)
		if err == nil {
			_, err = f.WriteAt([]byte("changed"), 5<<20)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Error(err)
		}
	}
	if res, err := x.attempt(0); err != nil || res.Failed != 1 || res.New != 0 || !strings.Contains(res.Problems[0].Text, "was changed") {
		t.Fatalf(`got %+v, %v; want no error, Failed 1, New 0 and "was changed" in Problems[0].Text`, res, err)
	}
	x.frame = nil
	if res, err := x.attempt(0); err != nil || res.New != 1 {
		t.Fatalf("got %+v, %v; want no error and New 1", res, err)
	}
	x.same("f")
}

// waitClockTick waits until the file system's clock differs from the time of the file's last
// change; that clock advances in steps of some milliseconds.
func waitClockTick(t *testing.T, name string) {
	t.Helper()
	was, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	for now := was; !now.ModTime().After(was.ModTime()); {
		if err := os.WriteFile(name+".tick", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if now, err = os.Stat(name + ".tick"); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(name + ".tick"); err != nil {
			t.Fatal(err)
		}
	}
}

// A change to either file after its checkpoint, or its replacement, is detected.
func TestCheckpointIsUsedOnlyForItsFile(t *testing.T) {
	const size = 24 << 20
	change := func(t *testing.T, name string) {
		waitClockTick(t, name)
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt([]byte("changed"), 5<<20)
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	replace := func(t *testing.T, name string) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		copy(data[5<<20:], "changed")
		if err := errors.Join(os.WriteFile(name+"x", data, 0o600), os.Rename(name+"x", name)); err != nil {
			t.Fatal(err)
		}
	}
	for what, f := range map[string]func(t *testing.T, x *resumer){
		"the source is written to": func(t *testing.T, x *resumer) { change(t, filepath.Join(x.from, "f")) },
		"the source is replaced":   func(t *testing.T, x *resumer) { replace(t, filepath.Join(x.from, "f")) },
		"the part is written to": func(t *testing.T, x *resumer) {
			change(t, filepath.Join(x.to, partName("t1", "f")))
		},
		"the part is written to after it was gone on with": func(t *testing.T, x *resumer) {
			if _, err := x.attempt(2 << 20); !errors.Is(err, errCut) {
				t.Fatalf("got %v; want the error errCut", err)
			}
			change(t, filepath.Join(x.to, partName("t1", "f")))
		},
		"the part is written to after its writer was killed": func(t *testing.T, x *resumer) {
			markKilled(x)
			change(t, filepath.Join(x.to, partName("t1", "f")))
		},
		"the part is written to after it was gone on with by one that was killed": func(t *testing.T, x *resumer) {
			if _, err := x.attempt(2 << 20); !errors.Is(err, errCut) {
				t.Fatalf("got %v; want the error errCut", err)
			}
			markKilled(x)
			change(t, filepath.Join(x.to, partName("t1", "f")))
		},
		"the part is replaced": func(t *testing.T, x *resumer) {
			replace(t, filepath.Join(x.to, partName("t1", "f")))
		},
		"the part is gone": func(t *testing.T, x *resumer) {
			if err := os.Remove(filepath.Join(x.to, partName("t1", "f"))); err != nil {
				t.Fatal(err)
			}
		},
		"the part is shorter than its mark": func(t *testing.T, x *resumer) { // as after a disk lost data that it had acknowledged
			if err := os.Truncate(filepath.Join(x.to, partName("t1", "f")), 10<<20); err != nil {
				t.Fatal(err)
			}
		},
		"the part's end is lost": func(t *testing.T, x *resumer) { // as after a crash of the machine: zeros, and no checkpoint of them
			name := filepath.Join(x.to, partName("t1", "f"))
			waitClockTick(t, name)
			n := x.part()
			if err := errors.Join(os.Truncate(name, n/checkpointEvery*checkpointEvery), os.Truncate(name, n)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			x := newResumer(t)
			writeLongFile(t, filepath.Join(x.from, "f"), size)
			if _, err := x.attempt(20 << 20); !errors.Is(err, errCut) {
				t.Fatalf("got %v; want the error errCut", err)
			}
			f(t, x)
			if res, err := x.attempt(0); err != nil || res.New != 1 || res.Failed != 0 {
				t.Fatalf("got %+v, %v; want no error, New 1 and Failed 0", res, err)
			}
			x.same("f")
		})
	}
}

// The file under its name is a different one of the same size: it is compared once, and does not
// prevent the use of the part file later.
func TestPartFileIsUsedBesideAnotherFileOfItsSize(t *testing.T) {
	x := newResumer(t)
	x.conflict = protocol.ConflictOverwrite
	writeLongFile(t, filepath.Join(x.from, "f"), 40<<20)
	if err := os.WriteFile(filepath.Join(x.to, "f"), make([]byte, 40<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := x.attempt(20 << 20); !errors.Is(err, errCut) {
		t.Fatalf("got %v; want the error errCut", err)
	}
	if _, err := x.attempt(0); err != nil || x.r.rehashed > checkpointEvery || x.sent > 28<<20 {
		t.Errorf("%v: %d bytes were hashed again, %d sent", err, x.r.rehashed, x.sent)
	}
	x.same("f")
}

// Holes count like data.
func TestFileWithHolesResumes(t *testing.T) {
	x := newResumer(t)
	name := filepath.Join(x.from, "f")
	writeLongFile(t, name, 1<<20)
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte("in the middle"), 50<<20)
	if err = errors.Join(err, f.Truncate(100<<20), f.Close()); err != nil {
		t.Fatal(err)
	}
	for frames := int64(1); ; frames++ {
		_, err := x.attempt(frames * maxBody)
		if x.r.rehashed > checkpointEvery || x.s.rehashed > checkpointEvery {
			t.Errorf("the source hashed %d bytes again, the destination %d", x.s.rehashed, x.r.rehashed)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, errCut) || frames > 30 {
			t.Fatalf("got %v, %v; want error errCut and frames at most 30", frames, err)
		}
	}
	x.same("f")
}
