//go:build unix

package workspace

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test program be a second process: one that exchanges links, one that writes
// until it is killed, one without rights.
func TestMain(m *testing.M) {
	if role := os.Getenv("FAIRLEAD_TEST_ROLE"); role != "" {
		roles[role](os.Getenv("FAIRLEAD_TEST_DIR"))
		return
	}
	os.Exit(m.Run())
}

// startRole starts this program in a role. Its standard input is a pipe: it ends when that does.
func startRole(t *testing.T, role, dir string, env ...string) (*exec.Cmd, io.WriteCloser, io.ReadCloser) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "FAIRLEAD_TEST_ROLE="+role, "FAIRLEAD_TEST_DIR="+dir)...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return cmd, in, out
}

// roles are what a second process can be.
var roles = map[string]func(dir string){
	"exchange": exchange, "write": writeForever, "unprivileged": unprivileged, "small files": smallFiles, "nothing": func(string) {},
}

// exchange swaps the folder d with links to the outside, as fast as it can, until its standard
// input ends.
func exchange(base string) {
	stop := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(stop)
	}()
	in := func(name string) string { return filepath.Join(base, "ws", name) }
	fmt.Println("ready")
	for i := 0; ; i++ {
		select {
		case <-stop:
			fmt.Println(i)
			return
		default:
		}
		door := in([]string{"absolute", "relative", "dangling", "file"}[i%4])
		os.Rename(in("d"), in("aside"))
		os.Rename(door, in("d"))
		os.Rename(in("d"), door)
		os.Rename(in("aside"), in("d"))
	}
}

// Two processes: one exchanges a folder with links that lead out, the other reads, writes, lists
// and creates below it for a fixed number of rounds. Nothing outside may ever be read or changed.
func TestNoLinkOfAnotherProcessLeadsOut(t *testing.T) {
	const rounds = 4000
	base := t.TempDir()
	out := filepath.Join(base, "out")
	put(t, filepath.Join(out, "f"), "outside")
	put(t, filepath.Join(base, "ws", "d", "f"), "inside")
	for name, target := range map[string]string{"absolute": out, "relative": "../out", "dangling": filepath.Join(base, "new"), "file": filepath.Join(out, "f")} {
		link(t, target, filepath.Join(base, "ws", name))
	}
	r, err := Open(filepath.Join(base, "ws"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd, stdin, stdout := startRole(t, "exchange", base)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 6)
	if _, err := io.ReadFull(stdout, buf); err != nil {
		t.Fatal(err)
	}
	p, fresh := resolve(t, r, "d/f"), resolve(t, r, "d/new/g")
	reads, writes, lists := 0, 0, 0
	for i := range rounds {
		if data, _, err := r.ReadFile(p, 100); err == nil {
			reads++
			if string(data) != "inside" {
				t.Fatalf("round %d: got %q, want inside", i, data)
			}
		}
		if i%40 == 0 {
			if _, err := r.Write(p, []byte("inside"), "", nil); err == nil {
				writes++
			}
			if _, err := r.Write(fresh, []byte("inside"), "", nil); err == nil {
				writes++
			}
		}
		if d, err := r.OpenDir(resolve(t, r, "d")); err == nil {
			lists++
			if d != nil {
				d.Close()
			}
		}
	}
	stdin.Close()
	rest, _ := io.ReadAll(stdout)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rounds against %s exchanges: %d reads, %d writes, %d lists went through", rounds, strings.TrimSpace(string(rest)), reads, writes, lists)
	if reads == 0 || writes == 0 || lists == 0 {
		t.Error("nothing was tested")
	}
	if data, _ := os.ReadFile(filepath.Join(out, "f")); string(data) != "outside" {
		t.Errorf("got the file outside as %q, want outside", data)
	}
	for dir, want := range map[string]int{out: 1, base: 2} {
		if list, _ := os.ReadDir(dir); len(list) != want {
			t.Errorf("%s: got files %v, want %d", dir, list, want)
		}
	}
}
