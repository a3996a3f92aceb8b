//go:build unix

package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// version is one of the contents that a file has in turn; each is one letter only, so that a
// mixture shows.
func version(i int) []byte { return bytes.Repeat([]byte{'a' + byte(i%26)}, 100_000+i%7*50_000) }

// writeForever replaces a file by version after version until it is killed.
func writeForever(dir string) {
	r, err := Open(dir)
	if err != nil {
		panic(err)
	}
	p, err := r.Resolve("sub/f")
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	for i := 0; ; i++ {
		unlock, err := r.Lock(context.Background(), p)
		if err != nil {
			panic(err)
		}
		sum, err := r.Hash(p)
		if err != nil {
			panic(err)
		}
		if _, err := r.Write(p, version(i), sum, nil); err != nil {
			panic(err)
		}
		unlock()
	}
}

func leftovers(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestAKilledWriterLeavesTheOldOrTheNewFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sub", "f")
	put(t, file, string(version(0)))
	rnd := rand.New(rand.NewPCG(7, 8))
	left := 0
	for i := range 100 {
		cmd, _, stdout := startRole(t, "write", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(stdout, make([]byte, 6)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rnd.IntN(8000)) * time.Microsecond) // when it is killed is what is varied
		cmd.Process.Kill()
		cmd.Wait()
		data, err := os.ReadFile(file)
		if err != nil || len(data) == 0 || len(bytes.Trim(data, string(data[:1]))) != 0 || len(data) < 100_000 || len(data)%50_000 != 0 {
			t.Fatalf("kill %d: got %d bytes, %.20q, error %v, want a whole file", i, len(data), data, err)
		}
		names := leftovers(t, filepath.Dir(file))
		left += len(names)
		for _, name := range names { // the next process removes what is so old
			at := time.Now().Add(-2 * tempAge)
			os.Chtimes(filepath.Join(filepath.Dir(file), name), at, at)
		}
		if len(names) > 1 {
			t.Fatalf("kill %d: got leftovers %v, want at most its own", i, names)
		}
	}
	t.Logf("%d of 100 kills left a temporary file", left)
	if left == 0 {
		t.Error("no kill came in the middle of a write: nothing was tested")
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	swept.Clear() // as in a process that starts
	if _, err := r.Write(resolve(t, r, "sub/f"), []byte("last"), "", nil); err != nil {
		t.Fatal(err)
	}
	if names := leftovers(t, filepath.Dir(file)); len(names) != 0 {
		t.Errorf("got leftovers %v after the next write, want none", names)
	}
}

func TestOnlyUnusedFilesAreSwept(t *testing.T) {
	r := openTemp(t)
	old := time.Now().Add(-2 * tempAge)
	for name, c := range map[string]struct {
		old, stays bool
	}{
		tempPrefix + "NEW" + tempSuffix: {false, true},
		tempPrefix + "OLD" + tempSuffix: {true, false},
		tempPrefix + "mine.txt":         {true, true},
		"notes" + tempSuffix:            {true, true},
	} {
		put(t, filepath.Join(r.Dir(), name), "x")
		if c.old {
			os.Chtimes(filepath.Join(r.Dir(), name), old, old)
		}
		defer func() {
			if _, err := os.Lstat(filepath.Join(r.Dir(), name)); (err == nil) != c.stays {
				t.Errorf("%s: got it there %v, want %v", name, err == nil, c.stays)
			}
		}()
	}
	if _, err := r.Write(resolve(t, r, "f"), nil, "", nil); err != nil {
		t.Fatal(err)
	}
}
