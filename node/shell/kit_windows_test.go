package shell

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fairlead/node/sandbox"
	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

// folder is t.TempDir without its cleanup, which does not work in Wine.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tools")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var all []string
		filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
			all = append(all, path)
			return nil
		})
		for _, path := range slices.Backward(all) {
			os.Remove(path)
		}
	})
	return dir
}

// cmdExe is a bench whose commands cmd.exe runs: as plain children, or in a box when there is a
// mode.
func cmdExe(t *testing.T, mode sandbox.Mode) *bench {
	t.Helper()
	t.Setenv("SHELL", filepath.Join(os.Getenv("SystemRoot"), "System32", "cmd.exe"))
	ws, err := workspace.Open(tooltest.Folder(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	var o JobOptions
	if mode != "" {
		box, err := sandbox.New(t.Context(), sandbox.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { box.Close() })
		o.Box, o.Profile = box, sandbox.Profile{Mode: mode, Workspace: ws.Dir()}
	}
	return benchOf(t, ws, o)
}

var windowsModes = []sandbox.Mode{"", sandbox.Full, sandbox.WorkspaceWrite}

// linger is a program that runs for a minute.
func linger(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return `"` + exe + `" __sandbox linger`
}
