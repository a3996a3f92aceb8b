package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// allContent returns the content of all files below a folder.
func allContent(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		all.WriteString(name + ": ")
		if d.Type().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			all.Write(data)
		}
		all.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestReadOnlyRootChangesNothing(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, rw, out := filepath.Join(base, "ws"), filepath.Join(base, "rw"), filepath.Join(base, "out")
	for _, d := range []string{ws, rw, out} {
		put(t, filepath.Join(d, "f"), "as it was")
		put(t, filepath.Join(d, "d", "g"), "as it was")
	}
	link(t, filepath.Join(rw, "f"), filepath.Join(ws, "link"))
	before, err := Open(ws)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(ws, "gone"), "deleted before")
	id, err := before.Entries().Trash(resolve(t, before, "gone"))
	before.Close()
	if err != nil {
		t.Fatal(err)
	}
	want := allContent(t, base)
	open := func(c Config) *Root {
		t.Helper()
		c.Dir, c.ReadOnly = ws, true
		r, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	granted := open(Config{Grants: []Grant{{Dir: rw}}})
	wide, err := granted.WithGrant(Grant{Dir: out})
	if err != nil {
		t.Fatal(err)
	}
	defer wide.Close()
	for name, r := range map[string]*Root{"workspace": open(Config{}), "granted": granted, "for one call": wide, "disk": open(Config{WholeDisk: true})} {
		t.Run(name, func(t *testing.T) {
			if !r.Config().ReadOnly || !r.IsFolderReadOnly(ws) {
				t.Errorf("got config %+v, want it read-only", r.Config())
			}
			for _, dir := range []string{ws, rw, out} {
				if _, err := r.Resolve(filepath.Join(dir, "f")); err != nil {
					continue // out of its reach
				}
				at := func(name string) Path { return Path{Abs: filepath.Join(dir, name)} }
				if data, _, err := r.ReadFile(at("f"), 100); err != nil || string(data) != "as it was" {
					t.Errorf("%s: got %q, error %v, want the text of before", dir, data, err)
				}
				for way, do := range map[string]func() error{
					"write":           func() error { _, err := r.Write(at("f"), []byte("x"), "", nil); return err },
					"write a new one": func() error { _, err := r.Write(at("new/deep"), []byte("x"), "", nil); return err },
					"write as seen":   func() error { _, err := r.Write(at("none"), nil, Absent, nil); return err },
					"may be written":  func() error { return r.Writable(at("f")) },
					"move":            func() error { _, err := r.Entries().Move(at("f"), at("moved")); return err },
					"make a folder":   func() error { _, err := r.Entries().Mkdir(at("made")); return err },
					"delete":          func() error { _, err := r.Entries().Trash(at("f")); return err },
					"take in":         func() error { _, err := r.OpenFolderForWriting(at("d"), ".", false); return err },
					"take in anew":    func() error { _, err := r.OpenFolderForWriting(at("fresh"), ".", true); return err },
					"bring back":      func() error { _, err := r.Entries().Restore(id); return err },
				} {
					var readOnly *ReadOnlyError
					if err := do(); !errors.As(err, &readOnly) || !strings.Contains(err.Error(), "read-only") || !strings.Contains(err.Error(), "--sandbox workspace-write") {
						t.Errorf("%s: %s in %s: got error %v, want read-only", name, way, dir, err)
					}
				}
			}
			if err := r.Entries().SweepTrash(time.Now().Add(2 * TrashAge)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if _, err := granted.Write(resolve(t, granted, "link"), []byte("x"), "", nil); err == nil {
		t.Error("written through a link")
	}
	if now := allContent(t, base); now != want {
		t.Errorf("got:\n%s\nwant:\n%s", now, want)
	}
}
