//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestPipesAndDevicesAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	pipe := filepath.Join(r.Dir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	disk, err := Config{Dir: r.Dir(), WholeDisk: true}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, c := range []struct {
			r    *Root
			name string
		}{{r, "pipe"}, {r, "."}, {disk, "/dev/zero"}, {disk, "pipe"}} {
			p, err := c.r.Resolve(c.name)
			if err != nil {
				t.Error(err)
				continue
			}
			if _, _, err := c.r.ReadFile(p, 10); err == nil {
				t.Errorf("%s: got no error of a read, want one", c.name)
			}
			if _, err := c.r.Write(p, []byte("x"), "", nil); err == nil {
				t.Errorf("%s: got no error of a write, want one", c.name)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(3 * time.Minute):
		t.Fatal("something waited for the other end of a pipe")
	}
}

func TestAReadOnlyFileIsNotOverwritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write every file")
	}
	r := openTemp(t)
	file := filepath.Join(r.Dir(), "f")
	put(t, file, "keep")
	if err := os.Chmod(file, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Write(resolve(t, r, "f"), []byte("x"), "", nil); err == nil {
		t.Error("it was overwritten")
	}
}

func TestHardLinkOutsideIsNotChanged(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "f")
	put(t, out, "outside")
	r := openTemp(t)
	if err := os.Link(out, filepath.Join(r.Dir(), "f")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	if _, err := r.Write(resolve(t, r, "f"), []byte("inside"), "", nil); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(out); string(data) != "outside" {
		t.Errorf("got the file outside as %q, want outside", data)
	}
}

// A folder is exchanged with a link to the outside as fast as possible while files below it are
// read, written and listed.
func TestNoRaceLetsALinkLeadOut(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	put(t, filepath.Join(out, "f"), "outside")
	r := openTemp(t)
	dir, aside, door := filepath.Join(r.Dir(), "d"), filepath.Join(r.Dir(), "aside"), filepath.Join(r.Dir(), "door")
	put(t, filepath.Join(dir, "f"), "inside")
	link(t, out, door)
	p := resolve(t, r, "d/f")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(dir, aside)
			os.Rename(door, dir)
			os.Rename(dir, door)
			os.Rename(aside, dir)
		}
	})
	tries, reads := 0, 0
	begun := time.Now()
	for least, most := begun.Add(time.Second), begun.Add(3*time.Minute); time.Now().Before(least) || reads == 0 && time.Now().Before(most); tries++ {
		if data, _, err := r.ReadFile(p, 100); err == nil {
			reads++
			if string(data) == "outside" {
				t.Fatal("a file outside was read")
			}
		}
		if tries%8 == 0 {
			r.Write(p, []byte("inside"), "", nil)
			r.Write(resolve(t, r, "d/new/g"), []byte("inside"), "", nil)
		}
		if d, err := r.OpenDir(resolve(t, r, "d")); err == nil {
			if f, err := d.Open("f"); err == nil {
				b := make([]byte, 7)
				if n, _ := f.Read(b); string(b[:n]) == "outside" {
					t.Fatal("a folder outside was opened")
				}
				f.Close()
			}
			d.Close()
		}
	}
	close(stop)
	wg.Wait()
	if reads == 0 {
		t.Errorf("got no read in %d tries, want some", tries)
	}
	if data, _ := os.ReadFile(filepath.Join(out, "f")); string(data) != "outside" {
		t.Errorf("got the file outside as %q, want outside", data)
	}
	if list, _ := os.ReadDir(out); len(list) != 1 {
		t.Errorf("got files %v outside, want one", list)
	}
}
