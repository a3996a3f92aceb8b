package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openGranted opens a workspace in base/ws with base/rw and base/ro granted; base/out is not.
func openGranted(t *testing.T) (r *Root, base string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"ws", "rw", "ro", "out"} {
		put(t, filepath.Join(base, d, "f"), d)
	}
	r, err = Config{
		Dir:    filepath.Join(base, "ws"),
		Grants: []Grant{{Dir: filepath.Join(base, "rw")}, {Dir: filepath.Join(base, "ro"), ReadOnly: true}},
	}.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, base
}

func TestGrantedFoldersAreUsedAndOthersAreNot(t *testing.T) {
	t.Parallel()
	r, base := openGranted(t)
	if r.Config().WholeDisk || len(r.Config().Grants) != 2 || r.Config().Grants[1] != (Grant{filepath.Join(base, "ro"), true}) {
		t.Errorf("got whole disk %v, grants %v, want two grants", r.Config().WholeDisk, r.Config().Grants)
	}
	link(t, filepath.Join(base, "rw"), filepath.Join(base, "ws", "to-rw"))
	link(t, "../ro/f", filepath.Join(base, "ws", "to-ro"))
	link(t, filepath.Join(base, "out"), filepath.Join(base, "ws", "to-out"))
	link(t, filepath.Join(base, "ws", "f"), filepath.Join(base, "ro", "back"))
	link(t, filepath.Join(base, "out", "f"), filepath.Join(base, "rw", "away"))
	for name, want := range map[string]string{
		"f": "ws", base + "/rw/f": "rw", base + "/ro/f": "ro", "../rw/f": "rw", "to-rw/f": "rw", "to-ro": "ro", base + "/ro/back": "ws",
	} {
		p := resolve(t, r, name)
		if data, _, err := r.ReadFile(p, 10); err != nil || string(data) != want || p.Outside {
			t.Errorf("%s: got %q, error %v, outside %v, want %q inside", name, data, err, p.Outside, want)
		}
	}
	var outside *OutsideError
	for _, name := range []string{base + "/out/f", base, "..", base + "/rwx", base + "/rw/../out/f"} {
		if p, err := r.Resolve(name); !errors.As(err, &outside) || !p.Outside || !strings.Contains(err.Error(), "granted folders") {
			t.Errorf("%s: got %+v, error %v, want it outside", name, p, err)
		}
	}
	for _, name := range []string{"to-out/f", base + "/rw/away", "to-rw/away"} {
		if _, _, err := r.ReadFile(resolve(t, r, name), 10); !errors.As(err, &outside) {
			t.Errorf("%s: got %v; want an error of type *OutsideError", name, err)
		}
	}
}

func TestAReadOnlyGrantIsNotWritten(t *testing.T) {
	t.Parallel()
	r, base := openGranted(t)
	link(t, filepath.Join(base, "ro"), filepath.Join(base, "ws", "to-ro"))
	for _, name := range []string{base + "/ro/f", base + "/ro/new/deep/g", "to-ro/f", "to-ro/new", "../ro/f"} {
		var readOnly *ReadOnlyError
		if _, err := r.Write(resolve(t, r, name), []byte("x"), "", nil); !errors.As(err, &readOnly) || readOnly.Dir != filepath.Join(base, "ro") {
			t.Errorf("%s: got %v; want an error of type *ReadOnlyError and Dir %v", name, err, filepath.Join(base, "ro"))
		}
	}
	if list, _ := os.ReadDir(filepath.Join(base, "ro")); len(list) != 1 {
		t.Errorf("got files %v, want one", list)
	}
	for _, name := range []string{"f", base + "/rw/f", base + "/rw/new/deep/g"} {
		if _, err := r.Write(resolve(t, r, name), []byte("x"), "", nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAGrantThatHoldsTheWorkspaceDoesNotNarrowIt(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	put(t, filepath.Join(base, "ws", "f"), "")
	r, err := Config{Dir: filepath.Join(base, "ws"), Grants: []Grant{{Dir: base, ReadOnly: true}}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Write(resolve(t, r, "f"), []byte("x"), "", nil); err != nil {
		t.Error(err)
	}
	var readOnly *ReadOnlyError
	if _, err := r.Write(resolve(t, r, "../g"), []byte("x"), "", nil); !errors.As(err, &readOnly) {
		t.Errorf("got %v; want an error of type *ReadOnlyError", err)
	}
}

func TestGrantsThatCannotHoldAreRefused(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	put(t, filepath.Join(base, "ws", "sub", "f"), "")
	put(t, filepath.Join(base, "file"), "")
	ws := filepath.Join(base, "ws")
	for name, c := range map[string]Config{
		"missing":            {Dir: ws, Grants: []Grant{{Dir: filepath.Join(base, "none")}}},
		"a file":             {Dir: ws, Grants: []Grant{{Dir: filepath.Join(base, "file")}}},
		"no name":            {Dir: ws, Grants: []Grant{{}}},
		"read-only inside":   {Dir: ws, Grants: []Grant{{Dir: filepath.Join(ws, "sub"), ReadOnly: true}}},
		"the same read-only": {Dir: ws, Grants: []Grant{{Dir: ws, ReadOnly: true}}},
		"with the disk":      {Dir: ws, WholeDisk: true, Grants: []Grant{{Dir: base}}},
		"no workspace":       {},
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := c.Open(); err == nil {
				r.Close()
				t.Errorf("%s: got no error, want one", name)
			}
		})
	}
}

func TestParseGrant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Grant{
		"/a": {Dir: "/a"}, "/a:ro": {Dir: "/a", ReadOnly: true}, "/a:rw": {Dir: "/a"}, `C:\a:ro`: {Dir: `C:\a`, ReadOnly: true}, "/a:b": {Dir: "/a:b"},
	} {
		t.Run(text, func(t *testing.T) {
			if g, err := ParseGrant(text); err != nil || g != want {
				t.Errorf("got %+v, error %v, want %+v", g, err, want)
			}
		})
	}
	for _, text := range []string{"", ":ro", ":rw"} {
		if g, err := ParseGrant(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, g)
		}
	}
}

func TestASwappedWorkspaceIsNoticed(t *testing.T) {
	t.Parallel()
	r, base := openGranted(t)
	for _, dir := range []string{"ws", "rw"} {
		t.Run(dir, func(t *testing.T) {
			at := filepath.Join(base, dir)
			p := resolve(t, r, filepath.Join(at, "f"))
			check := func(want bool, how string) {
				t.Helper()
				var swapped *FolderReplacedError
				_, _, err := r.Open(p)
				_, werr := r.Write(p, []byte(dir), "", nil)
				_, derr := r.OpenDir(resolve(t, r, at))
				if errors.As(err, &swapped) != want || errors.As(werr, &swapped) != want || errors.As(derr, &swapped) != want {
					t.Errorf("%s, %s: got errors %v; %v; %v, want a replaced folder: %v", dir, how, err, werr, derr, want)
				}
			}
			check(false, "as opened")
			if err := os.Rename(at, at+"-aside"); err != nil {
				t.Skipf("an open folder cannot be renamed here: %v", err)
			}
			check(true, "gone")
			put(t, filepath.Join(at, "f"), "another")
			check(true, "replaced")
			if err := os.RemoveAll(at); err != nil {
				t.Fatal(err)
			}
			link(t, filepath.Join(base, "out"), at)
			check(true, "a link")
			os.Remove(at)
			os.Rename(at+"-aside", at)
			check(false, "put back")
		})
	}
	if data, _ := os.ReadFile(filepath.Join(base, "out", "f")); string(data) != "out" {
		t.Errorf("got the file outside as %q, want out", data)
	}
}

func TestALinksParentIsWhereItIs(t *testing.T) {
	t.Parallel()
	r := openTemp(t)
	put(t, filepath.Join(r.Dir(), "a", "b", "f"), "deep")
	put(t, filepath.Join(r.Dir(), "a", "g"), "right")
	put(t, filepath.Join(r.Dir(), "g"), "wrong")
	link(t, "a/b", filepath.Join(r.Dir(), "b"))
	link(t, "b/../g", filepath.Join(r.Dir(), "up"))
	if data, _, err := r.ReadFile(resolve(t, r, "up"), 10); err != nil || string(data) != "right" {
		t.Errorf("got %q, error %v, want right", data, err)
	}
}
