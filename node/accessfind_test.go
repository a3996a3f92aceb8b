package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestSearchesReachOutsideOnlyWhereItWasOpened(t *testing.T) {
	n := newPlainNode(t)
	other, secret := realFolder(t, t.TempDir()), realFolder(t, t.TempDir())
	for _, f := range []string{filepath.Join(other, "sub", "a.txt"), filepath.Join(secret, "b.txt")} {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte("needle\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(other, "away")); err != nil {
		t.Logf("no link: %v", err) // on Windows without the right to make one
	}
	sub := filepath.Join(other, "sub")
	for _, c := range []struct {
		tool string
		args map[string]any
		need string
	}{
		{"Glob", map[string]any{"path": other, "pattern": "**/*.txt"}, other},
		{"Glob", map[string]any{"path": other, "pattern": "sub/*.txt"}, other},
		{"Glob", map[string]any{"pattern": filepath.ToSlash(sub) + "/*.txt"}, sub},
		{"Grep", map[string]any{"path": other, "pattern": "needle"}, other},
		{"Grep", map[string]any{"path": filepath.Join(sub, "a.txt"), "pattern": "needle"}, sub},
	} {
		args := arguments(t, c.args)
		p, need := n.previewOf(t, c.tool, args), protocol.FolderAccess{Path: c.need}
		if len(p.Folders) != 1 || p.Folders[0] != need || p.Problem != "" || !p.Outside {
			t.Fatalf("%s %s: got preview %+v, want the folder %+v and no problem", c.tool, args, p, need)
		}
		if r := n.call(t.Context(), n.allowed(t, c.tool, args)); !strings.Contains(r.Error, "outside the workspace") {
			t.Errorf("%s %s without the folder: got %+v, want a path outside the workspace", c.tool, args, r)
		}
		r := n.call(t.Context(), n.allowed(t, c.tool, args, need))
		if r.Error != "" || !strings.Contains(string(r.Result), "a.txt") || strings.Contains(string(r.Result), "b.txt") {
			t.Errorf("%s %s: got %s, error %q, want a.txt alone", c.tool, args, r.Result, r.Error)
		}
		if r := n.call(t.Context(), n.allowed(t, c.tool, args)); !strings.Contains(r.Error, "outside the workspace") {
			t.Errorf("%s %s after the call with the folder: got %+v, want a path outside the workspace", c.tool, args, r)
		}
		wider := protocol.FolderAccess{Path: filepath.Dir(c.need)}
		if r := n.call(t.Context(), n.allowed(t, c.tool, args, wider)); !strings.Contains(r.Error, "APPROVAL_DRIFT") {
			t.Errorf("%s %s with a wider folder: got %+v, want APPROVAL_DRIFT", c.tool, args, r)
		}
	}
	climbs := arguments(t, map[string]any{"path": other, "pattern": "../" + filepath.Base(filepath.Dir(secret)) + "/*"})
	if p := n.previewOf(t, "Glob", climbs); p.Problem == "" {
		t.Errorf("a pattern that leads out of the opened folder: got preview %+v, want a problem", p)
	}
	if p := n.previewOf(t, "Grep", arguments(t, map[string]any{"path": n.opts.Home, "pattern": "x"})); len(p.Folders) > 0 {
		t.Errorf("in Fairlead's own folder: got %+v, want no folder", p)
	}
}
