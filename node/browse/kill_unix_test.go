//go:build unix

package browse

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// TestKillBetweenBackupAndReplaceLosesNothing runs itself as another process, which the system
// kills at the point where nothing can be cleaned up any more.
func TestKillBetweenBackupAndReplaceLosesNothing(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("FAIRLEAD_TEST_KILLED"); dir != "" {
		ws, err := workspace.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		b := New(ws, filepath.Join(dir, "..", "home"), nil)
		p, _ := ws.Resolve("a.txt")
		keep := b.Backup("call", "chat", "run")
		ws.Write(p, []byte("two\n"), "", func(abs string, old, now io.Reader, sum string) {
			keep(abs, old, now, sum)
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		})
		return
	}
	dir := filepath.Join(t.TempDir(), "ws")
	put(t, filepath.Join(dir, "a.txt"), "one\n")
	child := exec.Command(os.Args[0], "-test.run=^TestKillBetweenBackupAndReplaceLosesNothing$")
	child.Env = append(os.Environ(), "FAIRLEAD_TEST_KILLED="+dir)
	if err := child.Run(); err == nil {
		t.Fatal("it was not killed")
	}
	ws, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	b := New(ws, filepath.Join(dir, "..", "home"), nil)
	list := changesOf(t, b)
	if len(list) != 1 || text(t, filepath.Join(dir, "a.txt")) != "one\n" {
		t.Fatalf("got %+v, file %q, want one change, and the old file", list, text(t, filepath.Join(dir, "a.txt")))
	}
	if d, err := do[protocol.FilesDiffResult](t, b, protocol.ActDiff, of(list[0])); err != nil || d.State != protocol.ChangeReverted {
		t.Errorf("got %+v, error %v, want a reverted change", d, err)
	}
	// The same change is made again and can be reverted.
	writeAsAgent(t, b, "again", "a.txt", "two\n")
	if _, err := do[protocol.FilesDone](t, b, protocol.ActRevert, of(changesOf(t, b)[0])); err != nil || text(t, filepath.Join(dir, "a.txt")) != "one\n" {
		t.Errorf("got error %v, file %q, want %q", err, text(t, filepath.Join(dir, "a.txt")), "one\n")
	}
}
