package workspace

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// canary is in every file that must not be read.
const canary = "the canary of a file that may not be read"

// testWorkspace is a folder with a workspace, two grants and files outside, and their initial
// state.
type testWorkspace struct {
	t      testing.TB
	base   string
	r      *Root
	before map[string]string // of the files that must not change
}

func newTestWorkspace(t testing.TB, base string) *testWorkspace {
	for dir, content := range map[string]string{"ws": "ws", "rw": "rw", "ro": "ro", "out": canary, "wsx": canary} {
		for _, name := range []string{"f", "a/f", "a/b/f"} {
			path := filepath.Join(base, dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := Config{
		Dir:    filepath.Join(base, "ws"),
		Grants: []Grant{{Dir: filepath.Join(base, "rw")}, {Dir: filepath.Join(base, "ro"), ReadOnly: true}},
	}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return &testWorkspace{t: t, base: base, r: r}
}

// look returns the content of all files that must not change: everything but the workspace and the
// writable grant.
func (f *testWorkspace) look() map[string]string {
	seen := map[string]string{}
	filepath.WalkDir(f.base, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(f.base, path)
		switch {
		case err != nil:
			f.t.Fatal(err)
		case rel == "ws" || rel == "rw":
			return filepath.SkipDir
		case d.Type().IsRegular():
			data, _ := os.ReadFile(path)
			seen[rel] = string(data)
		default:
			seen[rel], _ = os.Readlink(path)
		}
		return nil
	})
	return seen
}

// words are the parts of paths and link targets.
var words = []string{"..", "..", "a", "b", "f", ".", "l1", "l2", "l3", "new", "", "ws", "rw", "ro", "out", "../out", "../../out/f", "wsx", "BASE", "BASE/out", "BASE/ws", "BASE/ro", "BASE/rw", "/", "~"}

// play makes links and uses paths as directed by the bytes.
func (f *testWorkspace) play(script []byte) {
	next := func() int {
		if len(script) == 0 {
			return -1
		}
		b := script[0]
		script = script[1:]
		return int(b)
	}
	path := func() string {
		var parts []string
		for range max(next(), 0)%5 + 1 {
			parts = append(parts, words[max(next(), 0)%len(words)])
		}
		return strings.ReplaceAll(strings.Join(parts, "/"), "BASE", f.base)
	}
	for range max(next(), 0) % 12 {
		at := filepath.Join(f.base, []string{"ws", "rw", "ro"}[max(next(), 0)%3], []string{"", "a", "a/b"}[max(next(), 0)%3], []string{"l1", "l2", "l3"}[max(next(), 0)%3])
		os.Symlink(path(), at)
	}
	f.before = f.look()
	for op := next(); op >= 0; op = next() {
		name := path()
		p, err := f.r.Resolve(name)
		if err != nil && !p.Outside {
			continue
		}
		switch op % 4 {
		case 0, 1: // does not rely on the refusal by Resolve
			data, _, err := f.r.ReadFile(p, 1000)
			if err == nil && string(data) == canary {
				f.t.Fatalf("%q: got the file outside, want an error", name)
			}
		case 2:
			f.r.Write(p, []byte("written"), "", nil)
		case 3:
			if _, info, err := f.r.Target(p); err == nil && info.Size() == int64(len(canary)) && info.Mode().IsRegular() {
				f.t.Fatalf("%q: got information about the file outside, want an error", name)
			}
		}
	}
	after := f.look()
	for name, content := range f.before {
		if after[name] != content {
			f.t.Fatalf("%s: got %q, want %q", name, after[name], content)
		}
	}
	if len(after) != len(f.before) {
		f.t.Fatalf("outside: got %d entries, want %d", len(after), len(f.before))
	}
}

func TestNoCombinationOfLinksLeadsOut(t *testing.T) {
	t.Parallel()
	if err := os.Symlink("x", filepath.Join(t.TempDir(), "l")); err != nil {
		t.Skipf("this system lets nobody make symbolic links here: %v", err)
	}
	rnd := rand.New(rand.NewPCG(9, 10))
	reads := 0
	for range 20 {
		f := newTestWorkspace(t, t.TempDir())
		script := make([]byte, 300)
		for i := range script {
			script[i] = byte(rnd.IntN(256))
		}
		f.play(script)
		for _, name := range []string{"ws/f", "rw/f", "ro/f"} {
			if p, err := f.r.Resolve(filepath.Join(f.base, name)); err == nil {
				if _, _, err := f.r.ReadFile(p, 100); err == nil {
					reads++
				}
			}
		}
		f.r.Close()
	}
	if reads < 50 {
		t.Errorf("got %d of 60 files inside, want at least 50", reads)
	}
}

func FuzzLinkFarm(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 2, 14, 4, 0, 0, 1, 1, 5, 0, 1, 6, 4})
	f.Add([]byte("a script of letters makes links as well as any other, if it is long enough"))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 2000 {
			return
		}
		fence := newTestWorkspace(t, t.TempDir())
		defer fence.r.Close()
		fence.play(script)
	})
}
