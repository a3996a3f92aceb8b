package tools

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fairlead/gateway/peer/toolkit"
	"fairlead/node/workspace"
)

func TestGrepFollowsLinksInsideOnly(t *testing.T) {
	b := newBench(t)
	out := folder(t)
	if err := os.WriteFile(filepath.Join(out, "f"), []byte("needle"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.file("real/f", "needle")
	b.file("search/own", "needle")
	for name, target := range map[string]string{
		"search/file": "../real/f", "search/dir": "../real", "search/again": "../real", "search/self": ".", "search/up": "..", "search/out": out,
		"search/outfile": filepath.Join(out, "f"), "search/dangling": "none", "real/back": "../search", "real/loop": "loop",
		"search/abs": filepath.Join(b.ws.Dir(), "real", "f"),
	} {
		if err := os.Symlink(target, filepath.Join(b.ws.Dir(), filepath.FromSlash(name))); err != nil {
			t.Skipf("this system lets nobody make symbolic links here: %v", err)
		}
	}
	got := matchLines(b, must[grepOut](b, "Grep", args{"pattern": "needle", "path": "search"}))
	if want := []string{"search/abs:1:needle", "search/again/f:1:needle", "search/file:1:needle", "search/own:1:needle"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestWithTheWholeDiskASearchStaysWhereItBegan(t *testing.T) {
	out, dir := folder(t), folder(t)
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
	ws, err := workspace.OpenDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	b := &bench{t: t, ws: ws, tools: map[string]toolkit.Tool{}}
	for _, tl := range All(ws, NewJobs(JobOptions{})) {
		b.tools[tl.Spec.Name] = tl
	}
	for _, c := range []struct {
		path    string
		outside bool
		n       int
	}{{"", false, 1}, {"link", true, 1}, {out, true, 1}, {"file", true, 1}} {
		a := args{"pattern": "needle", "path": c.path}
		if p := preview(b, "Grep", a); p.Outside != c.outside || p.Problem != "" {
			t.Errorf("preview of %q: %+v", c.path, p)
		}
		if got := must[grepOut](b, "Grep", a); len(got.Matches) != c.n {
			t.Errorf("%q: %+v", c.path, got.Matches)
		}
	}
	for path, outside := range map[string]bool{"f": false, "file": true, "link/f": true, filepath.Join(out, "f"): true} {
		for tool, a := range map[string]args{"Read": {"path": path}, "Write": {"path": path, "content": "needle"}} {
			if p := preview(b, tool, a); p.Outside != outside || p.Problem != "" {
				t.Errorf("preview of %s %s: %+v", tool, path, p)
			}
		}
	}
}
