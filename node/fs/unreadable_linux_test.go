package fs

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead/node/tooltest"
)

func TestUnreadableFolderDoesNotFailTheListing(t *testing.T) {
	b := newBench(t)
	b.File("closed/x", "1")
	b.File("open/y", "1")
	closed := in(b, "closed")
	t.Cleanup(func() { os.Chmod(closed, 0o700) })
	for path, mode := range map[string]os.FileMode{
		closed: 0, b.WS.Dir(): 0o755, filepath.Dir(b.WS.Dir()): 0o755,
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	var out listOut
	var err error
	tooltest.Unprivileged(t, func() {
		out, err = tooltest.Call[listOut](b, "fs_list", tooltest.Args{"path": b.WS.Dir(), "recursive": true})
	})
	if err != nil || names(out.Entries) != "closed/ open/ y" || out.Entries[0].Error != "permission denied" || out.Entries[1].Error != "" {
		t.Errorf("got %+v, error %v, want an error of the closed folder alone", out, err)
	}
}
