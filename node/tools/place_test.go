package tools

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"fairlead/node/workspace"
)

// TestACallIsBoundToThePlaceThatItWasAllowedFor changes the target of a path between approval and
// call.
func TestACallIsBoundToThePlaceThatItWasAllowedFor(t *testing.T) {
	b := newBench(t)
	b.file("before/a.txt", "needle\n")
	key := b.file("after/a.txt", "needle\n")
	if err := os.Symlink("after", filepath.Join(b.ws.Dir(), "way")); err != nil {
		t.Skip("no links here:", err)
	}
	calls := []struct {
		tool string
		in   args
		was  string
	}{
		{"Read", args{"path": "way/a.txt"}, "before/a.txt"},
		{"Grep", args{"pattern": "needle", "path": "way"}, "before"},
		{"Grep", args{"pattern": "needle", "path": "way/a.txt"}, "before/a.txt"},
		{"Glob", args{"pattern": "*", "path": "way"}, "before"},
		{"Write", args{"path": "way/new.txt", "content": "x"}, "before/new.txt"},
		{"Edit", args{"path": "way/a.txt", "oldString": "needle", "newString": "x"}, "before/a.txt"},
	}
	for _, c := range calls {
		was := filepath.Join(b.ws.Dir(), filepath.FromSlash(c.was))
		if raw, err := b.tools[c.tool].Call(WithPlace(t.Context(), was), encode(t, c.in)); !errors.Is(err, workspace.ErrElsewhere) {
			t.Errorf("%s %v: %s, %v", c.tool, c.in, raw, err)
		}
	}
	if data, err := os.ReadFile(key); err != nil || string(data) != "needle\n" {
		t.Errorf("the file became %q, %v", data, err)
	}
	for _, c := range calls {
		if _, err := b.tools[c.tool].Call(WithPlace(t.Context(), preview(b, c.tool, c.in).Path), encode(t, c.in)); err != nil {
			t.Errorf("%s %v, as it was looked at: %v", c.tool, c.in, err)
		}
	}
}
