package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/node/access"
	"fairlead/node/tooltest"
)

// TestACallIsBoundToThePlaceThatItWasAllowedFor changes the target of a path between approval and
// call.
func TestACallIsBoundToThePlaceThatItWasAllowedFor(t *testing.T) {
	b := newBench(t)
	b.File("before/a.txt", "needle\n")
	key := b.File("after/a.txt", "needle\n")
	if err := os.Symlink("after", filepath.Join(b.WS.Dir(), "way")); err != nil {
		t.Skip("no links here:", err)
	}
	calls := []struct {
		tool string
		in   tooltest.Args
		was  string
	}{
		{"Read", tooltest.Args{"path": "way/a.txt"}, "before/a.txt"},
		{"Grep", tooltest.Args{"pattern": "needle", "path": "way"}, "before"},
		{"Grep", tooltest.Args{"pattern": "needle", "path": "way/a.txt"}, "before/a.txt"},
		{"Glob", tooltest.Args{"pattern": "*", "path": "way"}, "before"},
		{"Write", tooltest.Args{"path": "way/new.txt", "content": "x"}, "before/new.txt"},
		{"Edit", tooltest.Args{"path": "way/a.txt", "oldString": "needle", "newString": "x"}, "before/a.txt"},
		{"fs_mkdir", tooltest.Args{"path": filepath.Join(b.WS.Dir(), "way", "d")}, "before/d"},
		{"fs_delete", tooltest.Args{"path": filepath.Join(b.WS.Dir(), "way", "a.txt")}, "before/a.txt"},
	}
	for _, c := range calls {
		t.Run(c.tool, func(t *testing.T) {
			was := filepath.Join(b.WS.Dir(), filepath.FromSlash(c.was))
			if raw, err := b.Tools[c.tool].Call(t.Context(), access.Call{Target: was}, tooltest.Encode(t, c.in)); err == nil || !strings.HasPrefix(err.Error(), "APPROVAL_DRIFT") {
				t.Errorf("%v: got %s, error %v, want APPROVAL_DRIFT", c.in, raw, err)
			}
		})
	}
	if data, err := os.ReadFile(key); err != nil || string(data) != "needle\n" {
		t.Errorf("got file %q, error %v, want it unchanged", data, err)
	}
	for _, c := range calls {
		t.Run(c.tool, func(t *testing.T) {
			if _, err := b.Tools[c.tool].Call(t.Context(), access.Call{Target: tooltest.Preview(b, c.tool, c.in).Path}, tooltest.Encode(t, c.in)); err != nil {
				t.Errorf("%v as previewed: got error %v, want none", c.in, err)
			}
		})
	}
}
