package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func openTemp(t *testing.T) *Root {
	t.Helper()
	r, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("this system lets nobody make symbolic links here: %v", err)
	}
}

func resolve(t *testing.T, r *Root, name string) Path {
	t.Helper()
	p, err := r.Resolve(name)
	if err != nil {
		t.Fatalf("Resolve(%q): %v", name, err)
	}
	return p
}

func TestResolveKeepsPathsInTheWorkspace(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	for _, c := range []struct {
		name, want string
		outside    bool
	}{
		{"", "", false},
		{".", "", false},
		{"a.txt", "a.txt", false},
		{"./a/../b", "b", false},
		{"a/b/../../c", "c", false},
		{"..a", "..a", false},
		{"~/x", "~/x", false},
		{r.Dir(), "", false},
		{filepath.Join(r.Dir(), "x", "y"), "x/y", false},
		{r.Dir() + "/../" + filepath.Base(r.Dir()) + "/z", "z", false},
		{"..", "", true},
		{"../x", "", true},
		{"a/../../x", "", true},
		{r.Dir() + "-beside", "", true},
		{filepath.Dir(r.Dir()), "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := r.Resolve(c.name)
			var outside *OutsideError
			if c.outside {
				if !errors.As(err, &outside) || !p.Outside || !strings.Contains(err.Error(), p.Abs) || !strings.Contains(err.Error(), r.Dir()) {
					t.Errorf("Resolve(%q) = %+v, %v; want a refusal that names path and workspace", c.name, p, err)
				}
				return
			}
			if want := filepath.Join(r.Dir(), filepath.FromSlash(c.want)); err != nil || p.Abs != want || p.Outside {
				t.Errorf("Resolve(%q) = %+v, %v; want %s", c.name, p, err, want)
			}
		})
	}
	if _, err := r.Resolve("a\x00b"); err == nil {
		t.Error("a zero byte was accepted")
	}
}

func TestAWorkspaceNamedThroughALinkMapsBothNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "real", "f"), "x")
	link(t, "real", filepath.Join(dir, "alias"))
	r, err := Open(filepath.Join(dir, "alias"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, name := range []string{"f", filepath.Join(dir, "alias", "f"), filepath.Join(r.Dir(), "f")} {
		if data, _, err := r.ReadFile(resolve(t, r, name), 10); err != nil || string(data) != "x" {
			t.Errorf("%s: got %q, error %v, want x", name, data, err)
		}
	}
}

func TestOpenWantsAFolderThatExists(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "")
	for _, name := range []string{"missing", "file"} {
		if r, err := Open(filepath.Join(dir, name)); err == nil {
			r.Close()
			t.Errorf("%s: got no error, want one", name)
		}
	}
}

func TestLinksInsideAreFollowedAndLinksOutRefused(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	put(t, filepath.Join(out, "secret"), "secret")
	r := openTemp(t)
	put(t, filepath.Join(r.Dir(), "d", "f"), "inside")
	for name, target := range map[string]string{
		"rel": "d/f", "abs": filepath.Join(r.Dir(), "d", "f"), "dir": "d", "chain": "rel", "absdir": filepath.Join(r.Dir(), "d"),
		"out": filepath.Join(out, "secret"), "outdir": out, "up": "../../" + filepath.Base(out), "dangling": filepath.Join(out, "new"),
		"loop": "loop", "viaout": "outdir/secret",
	} {
		link(t, target, filepath.Join(r.Dir(), name))
	}
	for _, name := range []string{"rel", "abs", "dir/f", "chain", "absdir/f"} {
		if data, _, err := r.ReadFile(resolve(t, r, name), 100); err != nil || string(data) != "inside" {
			t.Errorf("%s: got %q, error %v, want inside", name, data, err)
		}
	}
	for _, name := range []string{"out", "outdir/secret", "dangling", "viaout", "outdir/new/deep"} {
		t.Run(name, func(t *testing.T) {
			p := resolve(t, r, name)
			var outside *OutsideError
			if _, _, err := r.ReadFile(p, 100); !errors.As(err, &outside) {
				t.Errorf("read %s: %v; want an OutsideError", name, err)
			}
			if _, err := r.Write(p, []byte("x"), "", nil); !errors.As(err, &outside) {
				t.Errorf("write %s: %v; want an OutsideError", name, err)
			}
		})
	}
	for _, name := range []string{"loop", "loop/x", "up"} {
		if _, _, err := r.ReadFile(resolve(t, r, name), 100); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
	if data, _ := os.ReadFile(filepath.Join(out, "secret")); string(data) != "secret" {
		t.Errorf("got the file outside as %q, want secret", data)
	}
	if list, _ := os.ReadDir(out); len(list) != 1 {
		t.Errorf("got files %v outside, want one", list)
	}
}

func TestWholeDiskUsesAbsolutePathsAsTheyAre(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	r, err := Config{Dir: t.TempDir(), WholeDisk: true}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := resolve(t, r, filepath.Join(out, "sub", "f"))
	if !p.Outside || !r.Config().WholeDisk {
		t.Errorf("got %+v, want it outside", p)
	}
	if _, err := r.Write(p, []byte("x"), Absent, nil); err != nil {
		t.Fatal(err)
	}
	link(t, out, filepath.Join(r.Dir(), "link"))
	real, _, err := r.Target(resolve(t, r, "link/sub/f"))
	if err != nil || !real.Outside || filepath.Base(real.Abs) != "f" {
		t.Errorf("got %+v, error %v, want f outside", real, err)
	}
}

func TestReadFileRefusesTooLargeFiles(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	put(t, filepath.Join(r.Dir(), "f"), "12345")
	var tooLarge *TooLargeError
	if _, _, err := r.ReadFile(resolve(t, r, "f"), 4); !errors.As(err, &tooLarge) || tooLarge.Size != 5 {
		t.Errorf("got error %v, want a file of 5 bytes that is too large", err)
	}
	if _, _, err := r.ReadFile(resolve(t, r, "f"), 5); err != nil {
		t.Error(err)
	}
}

func FuzzResolveStaysInside(f *testing.F) {
	for _, s := range []string{"", "a", "../x", "/etc/passwd", "a/../../b", "//", "./..//.", "C:\\x", `\\host\x`, "~", "a\x00", strings.Repeat("../", 50)} {
		f.Add(s)
	}
	r, err := Open(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p, err := r.Resolve(name)
		if err != nil {
			return
		}
		if p.Outside || !filepath.IsAbs(p.Abs) || p.Abs != r.Dir() && !strings.HasPrefix(p.Abs, r.Dir()+string(os.PathSeparator)) {
			t.Fatalf("Resolve(%q): got %+v, want a path in %s", name, p, r.Dir())
		}
		if filepath.Clean(p.Abs) != p.Abs {
			t.Fatalf("Resolve(%q): got %q, want a clean path", name, p.Abs)
		}
	})
}
