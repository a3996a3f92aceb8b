package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tempBench is a box whose commands may have few temporary files.
type tempBench struct {
	*testing.T
	box *Box
	ws  string
}

func newTempBench(t *testing.T) tempBench {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	box, err := New(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(box.Close)
	box.sys.temps.limit = 8 << 20
	return tempBench{t, box, t.TempDir()}
}

func (b tempBench) start(script string) *Process {
	b.Helper()
	p, err := b.box.Start(Spec{
		Profile: Profile{Workspace: b.ws}, Argv: []string{"/bin/sh", "-c", "cd $TMPDIR; " + script}, Dir: b.ws, Env: Environ(b.ws, nil),
	})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// note waits for the end of a command and returns the note on its files.
func (b tempBench) note(p *Process) string {
	b.Helper()
	if _, err := p.Wait(); err != nil {
		b.Fatal(err)
	}
	return p.TempNote()
}

func TestTemporaryFilesCannotFillTheDisk(t *testing.T) {
	b := newTempBench(t)
	b.note(b.start("echo x >before"))
	other := b.start("exec sleep 600")
	defer other.Kill()
	for script, want := range map[string]string{
		"head -c 20M /dev/zero >big; exec sleep 600":                                           "was stopped because",
		"head -c 20M /dev/zero >big":                                                           "filled the disk",
		"mkdir d; for i in 1 2 3 4 5; do head -c 4M /dev/zero >d/$i; done":                     "filled the disk",
		"mkdir r; head -c 20M /dev/zero >r/f; chmod 0400 r/f; chmod 0500 r; ln -s / r/../root": "filled the disk",
		"head -c 4M /dev/zero >some":                                                           "", "cat before; rm -f some": "", "head -c 20M /dev/zero >big; rm big": "",
	} {
		t.Run(script, func(t *testing.T) {
			b.T = t
			note := b.note(b.start(script))
			if !strings.Contains(note, want) || want == "" && note != "" {
				t.Errorf("got the note %q, want %q", note, want)
			}
		})
	}
	b.T = t
	select {
	case <-other.Exited():
		t.Error("a command that wrote nothing was stopped")
	default:
	}
	other.Kill()
	left, all := "", uint64(0)
	if note := b.note(other); note != "" {
		t.Errorf("the other command: got the note %q, want none", note)
	}
	dir := b.box.sys.set.Temp
	eachTemp(dir, func(rel string, bytes uint64, _ time.Time) { left, all = left+" "+rel, all+bytes })
	if all > 8<<20 || !strings.Contains(left, "before") {
		t.Errorf("got%s with %d bytes, want the earlier file and no large ones", left, all)
	}
}

// TestFilesOfAnotherCommandAreEmptied removes files that another command still has open.
func TestFilesOfAnotherCommandAreEmptied(t *testing.T) {
	b := newTempBench(t)
	other := b.start("exec 3>open; echo ready >" + filepath.Join(b.ws, "ready") + "; read x <fifo || sleep 600")
	defer other.Kill()
	if note := b.note(b.start("until [ -f " + filepath.Join(b.ws, "ready") + " ]; do sleep 0.02; done; head -c 20M /dev/zero >open")); !strings.Contains(note, "20 MB") {
		t.Errorf("got the note %q, want 20 MB", note)
	}
	name := filepath.Join(b.box.sys.set.Temp, "*", "open")
	found, _ := filepath.Glob(name)
	if len(found) != 1 {
		t.Fatalf("%s: got %q, want one file", name, found)
	}
	if info, err := os.Stat(found[0]); err != nil || info.Size() != 0 {
		t.Errorf("the file: got %v (%v), want an empty one", info, err)
	}
}
