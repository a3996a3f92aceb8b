package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// TestSpecialFilesAreRefusedWithTheReason checks that no contents of an agent's folder cause an
// internal error of the gateway.
func TestSpecialFilesAreRefusedWithTheReason(t *testing.T) {
	home := t.TempDir()
	w := NewFiles(home, nil)
	if _, err := w.Write("main", "notes.md", nil); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "agents", "main")
	for link, to := range map[string]string{"out": home, "secret": filepath.Join(home, "x"), "one": "two", "two": "one"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("this system makes no links without rights: ", err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"out": "out is a link to nothing or out", "out/x": "out is a link to nothing or out", "secret": "secret is a link to nothing or out",
		"one": "one is a link", "notes.md/x": "notes.md is a file, not a folder",
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := w.Read("main", name); !errors.Is(err, protocol.ErrBadRequest) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), home) {
				t.Errorf("read %s: %v; want error ErrBadRequest, an error with %v and an error without %v", name, err, want, home)
			}
		})
	}
	for _, name := range []string{"out", "one"} {
		if _, err := w.List("main", name); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("list %s: %v, want error ErrBadRequest", name, err)
		}
	}
	if _, err := w.Write("main", "out/new", nil); !errors.Is(err, protocol.ErrBadRequest) || !strings.Contains(err.Error(), "is a link") {
		t.Errorf(`got %v; want error ErrBadRequest and an error with "is a link"`, err)
	}
}

// TestNothingTakesThePlaceOfTheSkills checks that neither a file nor a link called skills hides the
// shared skills, or stops the agent.
func TestNothingTakesThePlaceOfTheSkills(t *testing.T) {
	home := t.TempDir()
	w := NewFiles(home, nil)
	for _, name := range []string{"skills", "skills/", "/skills"} {
		if _, err := w.Write("main", name, []byte("x")); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("%s: got %v; want the error protocol.ErrBadRequest", name, err)
		}
	}
	built, err := w.Skills("main")
	if err != nil || len(built) == 0 {
		t.Fatalf("got %v, %v; want built nodes and no error", len(built), err)
	}
	if err := os.WriteFile(filepath.Join(home, "agents", "main", "skills"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := w.Skills("main"); err != nil || len(list) != len(built) {
		t.Errorf("got %v, %v; want no error and length %v", len(list), err, len(built))
	}
	if list, err := w.List("main", "skills"); err != nil || len(list.Directories) == 0 {
		t.Errorf("got %v, %v; want some directories and no error", list, err)
	}
}

// TestASourceMayBeWrittenAsTheSeedWritesIt: a source may be written gsv:workspace/path, for a file
// that gsv__WriteFile knows as path.
func TestASourceMayBeWrittenAsTheSeedWritesIt(t *testing.T) {
	w := NewFiles(t.TempDir(), nil)
	for name, content := range map[string]string{"a.md": "outer", "workspace/b.md": "inner"} {
		if _, err := w.Write("main", name, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"workspace/a.md": "a.md", "a.md": "a.md", "workspace/b.md": "workspace/b.md"} {
		t.Run(name, func(t *testing.T) {
			item, err := w.Transfer("main").Source(name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			if item.At != want {
				t.Errorf("%s is %s, want %s", name, item.At, want)
			}
			item.Root.Close()
		})
	}
	if _, err := w.Transfer("main").Source("workspace/none"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("got %v; want the error protocol.ErrNotFound", err)
	}
}
