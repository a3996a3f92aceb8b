package tools

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

func TestSearchOfTheWholeDiskStaysInItsFolder(t *testing.T) {
	out, dir := tooltest.Folder(t), tooltest.Folder(t)
	for _, d := range []string{out, dir} {
		if err := os.WriteFile(filepath.Join(d, "f"), []byte("needle"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"link": out, "file": filepath.Join(out, "f")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skipf("this system lets nobody make symbolic links here: %v", err)
		}
	}
	ws, err := workspace.Config{Dir: dir, WholeDisk: true}.Open()
	if err != nil {
		t.Fatal(err)
	}
	b := benchOf(t, ws)
	for _, c := range []struct {
		path    string
		outside bool
		n       int
	}{{"", false, 1}, {"link", true, 1}, {out, true, 1}, {"file", true, 1}} {
		a := tooltest.Args{"pattern": "needle", "path": c.path}
		if p := tooltest.Preview(b, "Grep", a); p.Outside != c.outside || p.Problem != "" {
			t.Errorf("%q: got preview %+v, want outside %v", c.path, p, c.outside)
		}
		if got := tooltest.Must[grepOut](b, "Grep", a); len(got.Matches) != c.n {
			t.Errorf("%q: got %+v, want %d matches", c.path, got.Matches, c.n)
		}
	}
	for path, outside := range map[string]bool{"f": false, "file": true, "link/f": true, filepath.Join(out, "f"): true} {
		for tool, a := range map[string]tooltest.Args{"Read": {"path": path}, "Write": {"path": path, "content": "needle"}} {
			t.Run(tool, func(t *testing.T) {
				if p := tooltest.Preview(b, tool, a); p.Outside != outside || p.Problem != "" {
					t.Errorf("%s: got preview %+v, want outside %v", path, p, outside)
				}
			})
		}
	}
}
