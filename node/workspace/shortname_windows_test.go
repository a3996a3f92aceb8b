package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// shortOf is the short name that the system gave a file.
func shortOf(t *testing.T, path string) string {
	t.Helper()
	in, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetShortPathName(in, &out[0], uint32(len(out)))
	if err != nil {
		t.Fatal(err)
	}
	short := filepath.Base(windows.UTF16ToString(out[:n]))
	if !strings.Contains(short, "~") {
		t.Skip("this drive makes no short names")
	}
	return short
}

func TestWindowsShortNamesLeadToTheLongOnes(t *testing.T) {
	dir, err := os.MkdirTemp("", "short")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeFolder(dir) })
	private := filepath.Join(dir, "Fairlead's own keys")
	put(t, filepath.Join(private, "a secret file.json"), "S")
	put(t, filepath.Join(dir, "a folder of the person/in it"), "P")
	put(t, filepath.Join(dir, "odd~1"), "O")
	r, err := Config{Dir: dir, Private: private}.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	short := shortOf(t, filepath.Join(r.Dir(), "a folder of the person"))
	// As a link's target has it: the text of a path with a generated short name is refused before.
	got, _, err := r.Target(Path{Abs: filepath.Join(r.Dir(), short, "in it")})
	if want := filepath.Join(r.Dir(), "a folder of the person", "in it"); err != nil || got.Abs != want {
		t.Errorf("%s: got %q, error %v, want %q", short, got.Abs, err, want)
	}
	hidden := shortOf(t, private)
	for _, p := range []string{hidden, filepath.Join(hidden, "a secret file.json"), filepath.Join(hidden, shortOf(t, filepath.Join(private, "a secret file.json")))} {
		if _, _, err := r.Target(Path{Abs: filepath.Join(r.Dir(), p)}); !errors.Is(err, errPrivate) {
			t.Errorf("%s: got %v; want the error errPrivate", p, err)
		}
		if f, _, err := r.Open(Path{Abs: filepath.Join(r.Dir(), p)}); err == nil {
			f.Close()
			t.Errorf("%s: got no error, want one", p)
		}
	}
	if got, _, err := r.Target(Path{Abs: filepath.Join(r.Dir(), "odd~1")}); err != nil || filepath.Base(got.Abs) != "odd~1" {
		t.Errorf("got %q, error %v, want the file with this name", got.Abs, err)
	}
	if _, err := os.Stat(filepath.Join(r.Dir(), hidden, "a secret file.json")); err != nil {
		t.Errorf("the system itself does not know the short name: %v", err)
	}
}

// removeFolder removes a folder in a way that also works in Wine, unlike [os.RemoveAll].
func removeFolder(dir string) error {
	var list []string
	filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		list = append(list, p)
		return nil
	})
	for _, p := range slices.Backward(list) {
		if err := os.Remove(p); err != nil {
			return err
		}
	}
	return nil
}
