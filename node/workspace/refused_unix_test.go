//go:build unix

package workspace

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallFiles writes where no file may be larger than 64 KiB, as on a full disk. It prints the
// results.
func smallFiles(dir string) {
	limit := syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
	r, err := Open(dir)
	if err != nil {
		panic(err)
	}
	p, _ := r.Resolve("f")
	_, err = r.Write(p, make([]byte, 100<<10), "", nil)
	fmt.Print(err)
}

func TestAFullDiskLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "f"), "old")
	cmd, stdin, stdout := startRole(t, "small files", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(stdout)
	stdin.Close()
	cmd.Wait()
	if string(said) != "file too large" {
		t.Errorf("got %q, want file too large", said)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, "f")); string(data) != "old" {
		t.Errorf("got file %.20q, want old", data)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("got files %v, want one", list)
	}
}

// unprivileged tries operations that the user nobody may not do. It prints the results, one per
// line.
func unprivileged(dir string) {
	if os.Geteuid() == 0 {
		if err := syscall.Setgid(65534); err != nil {
			panic(err)
		}
		if err := syscall.Setuid(65534); err != nil {
			panic(err)
		}
	}
	r, err := Open(dir)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"open/secret", "open/fixed", "fixed/f", "fixed/new/f", "closed/f"} {
		p, _ := r.Resolve(name)
		_, _, rerr := r.ReadFile(p, 100)
		_, werr := r.Write(p, []byte("new"), "", nil)
		fmt.Printf("%s|%v|%v\n", name, rerr, werr)
	}
	p, _ := r.Resolve("open/set")
	_, err = r.Write(p, []byte("new"), "", nil)
	fmt.Printf("open/set||%v\n", err)
}

func TestRefusalOfTheSystemIsExplained(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "ws")
	for name, mode := range map[string]os.FileMode{"open/secret": 0o000, "open/fixed": 0o444, "fixed/f": 0o666, "closed/f": 0o666, "open/set": 0o666 | os.ModeSetuid} {
		put(t, filepath.Join(dir, name), "old")
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"open": 0o777, "fixed": 0o555, "closed": 0o000} {
		os.Chmod(filepath.Join(dir, name), mode)
	}
	for d := base; d != filepath.Clean(os.TempDir()) && d != "/"; d = filepath.Dir(d) {
		os.Chmod(d, 0o755) // so that nobody gets here
	}
	defer os.Chmod(filepath.Join(dir, "closed"), 0o755)
	defer os.Chmod(filepath.Join(dir, "fixed"), 0o755)
	cmd, stdin, stdout := startRole(t, "unprivileged", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(stdout)
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("got error %v, want none: %s", err, said)
	}
	const denied = "permission denied"
	for line := range strings.Lines(string(said)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		want := map[string][2]string{
			"open/secret": {denied, denied}, "open/fixed": {"<nil>", denied}, "closed/f": {denied, denied},
			"fixed/f":     {"<nil>", "cannot create a new file in its folder, which is needed to replace a file in one step: " + denied},
			"fixed/new/f": {"no such file or directory", denied},
			"open/set":    {"", "<nil>"},
		}[f[0]]
		if len(f) != 3 || !strings.HasSuffix(f[1], want[0]) || f[2] != want[1] && want[1] != denied || !strings.HasSuffix(f[2], want[1]) {
			t.Errorf("%q, want %q", f, want)
		}
	}
	if n := strings.Count(string(said), "\n"); n != 6 {
		t.Errorf("got %d answers, want 6: %s", n, said)
	}
	info, err := os.Stat(filepath.Join(dir, "open", "set"))
	if os.Geteuid() == 0 && (err != nil || info.Mode()&os.ModeSetuid != 0) {
		t.Errorf("a file that changed its owner runs as its writer: %v, %v", info.Mode(), err)
	}
}
