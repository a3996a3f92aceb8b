package fs

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
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
	// Root can read everything, so its call runs on a thread of the user nobody. The thread
	// ends with its goroutine, which never unlocks it.
	listed := make(chan listOut, 1)
	go func() {
		defer close(listed)
		if os.Geteuid() == 0 {
			runtime.LockOSThread()
			if err := syscall.Setfsuid(65534); err != nil {
				t.Error(err)
				return
			}
		}
		out, err := tooltest.Call[listOut](b, "fs_list", tooltest.Args{"path": b.WS.Dir(), "recursive": true})
		if err != nil {
			t.Error(err)
		}
		listed <- out
	}()
	out := <-listed
	if names(out.Entries) != "closed/ open/ y" || out.Entries[0].Error != "permission denied" || out.Entries[1].Error != "" {
		t.Errorf("got %+v", out)
	}
}
