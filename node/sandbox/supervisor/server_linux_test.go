package supervisor

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestChildrenAreFoundWithoutTheKernelsList compares the kernel's list with a scan of every
// process.
func TestChildrenAreFoundWithoutTheKernelsList(t *testing.T) {
	var want []int
	for range 3 {
		cmd := exec.Command("/bin/sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		want = append(want, cmd.Process.Pid)
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	}
	slices.Sort(want)
	for name, got := range map[string][]int{"children": children(os.Getpid()), "scan": scanChildren(os.Getpid())} {
		t.Run(name, func(t *testing.T) {
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		})
	}
}

func TestBadgeIsReadFromTheLimitsOfAnyone(t *testing.T) {
	one, err := tagOf(1)
	if err != nil || one < firstTag {
		t.Errorf("the first process wears %d, %v; want at least %d and no error", one, err, firstTag)
	}
}

func TestWireCarriesBytesAndFilesInOrder(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]*wire
	for i, fd := range fds {
		if ends[i], err = newWire(os.NewFile(uintptr(fd), "end")); err != nil {
			t.Fatal(err)
		}
		defer ends[i].conn.Close()
	}
	dir := t.TempDir()
	sent := make(chan error, 1)
	go func() {
		for i := range uint64(20) {
			f, err := os.Create(dir + "/" + strings.Repeat("f", int(i+1)))
			if err == nil {
				o := wireRequest{Spec: Spec{Argv: []string{strings.Repeat("\xff\x00", int(i)*20<<10)}}, Files: [4]bool{true, i%2 == 0, false}}
				files := []*os.File{f, f}[:count(o.Files)]
				err = ends[0].send(request{ID: i, Start: &o}, files...)
				f.Close()
			}
			if err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i := range uint64(20) {
		var r request
		if err := ends[1].receive(&r); err != nil {
			t.Fatal(err)
		}
		if r.ID != i || len(r.Start.Argv[0]) != int(i)*40<<10 || strings.NewReplacer("\xff", "", "\x00", "").Replace(r.Start.Argv[0]) != "" {
			t.Fatalf("request %d came as %d with %d bytes", i, r.ID, len(r.Start.Argv[0]))
		}
		files, err := ends[1].takeFiles(count(r.Start.Files))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.Stat(dir + "/" + strings.Repeat("f", int(i+1)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if info, err := f.Stat(); err != nil || !os.SameFile(info, want) {
				t.Errorf("request %d came with another file: %v %v", i, info.Name(), err)
			}
			f.Close()
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if _, err := ends[1].takeFiles(1); err == nil {
		t.Error("a file that nobody sent")
	}
}

// A node that is killed with unread answers resets the socket instead of closing it.
func TestAResetWireIsAnError(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWire(os.NewFile(uintptr(fds[0]), "end"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.conn.Close()
	if err := w.send("unread"); err != nil {
		t.Fatal(err)
	}
	unix.Close(fds[1])
	var word string
	if err := w.receive(&word); !errors.Is(err, unix.ECONNRESET) {
		t.Errorf("got %q, %v; want the error unix.ECONNRESET", word, err)
	}
}

func TestTemporaryFoldersOfDeadProcessesAreSwept(t *testing.T) {
	base := t.TempDir()
	used, lock, err := makeTemp(base)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	left, dead, err := makeTemp(base)
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	fresh, young, err := makeTemp(base)
	if err != nil {
		t.Fatal(err)
	}
	young.Close()
	old := time.Now().Add(-time.Hour)
	for _, dir := range []string{used, left} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	sweepTemps(base)
	for dir, want := range map[string]bool{used: true, left: false, fresh: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", dir, err == nil, want)
		}
	}
}
