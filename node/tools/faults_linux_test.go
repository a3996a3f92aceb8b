package tools

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/tooltest"
)

// faultCode returns the code of the failure of a call.
func faultCode(b *tooltest.Bench, tool string, a tooltest.Args) protocol.FaultCode {
	if _, err := tooltest.Call[map[string]any](b, tool, a); err != nil {
		if f := access.FaultOf(err); f != nil {
			return f.Code
		}
	}
	return ""
}

func TestUnreadableFilesArePermissionDenied(t *testing.T) {
	b := newBench(t)
	file, folder := b.File("file", "x"), filepath.Dir(b.File("folder/x", "x"))
	t.Cleanup(func() { os.Chmod(folder, 0o700) })
	for path, mode := range map[string]os.FileMode{
		file: 0, folder: 0, b.WS.Dir(): 0o755, filepath.Dir(b.WS.Dir()): 0o755,
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for tool, a := range map[string]tooltest.Args{
		"Edit": {"path": file, "oldString": "x", "newString": "y"}, "Read": {"path": file}, "Glob": {"path": folder, "pattern": "*"}, "fs_glob": {"path": folder, "pattern": "*"},
		"fs_grep": {"path": folder, "pattern": "x"}, "fs_read": {"path": file}, "fs_list": {"path": folder}, "fs_stat": {"path": filepath.Join(folder, "x")},
		"fs_write": {"path": filepath.Join(folder, "new"), "chunk_b64": "", "done": true}, "fs_mkdir": {"path": filepath.Join(folder, "new")},
		"fs_delete": {"path": filepath.Join(folder, "x")},
	} {
		t.Run(tool, func(t *testing.T) {
			tooltest.Unprivileged(t, func() {
				if got := faultCode(b, tool, a); got != protocol.FaultPermissionDenied {
					t.Errorf("got %q, want %q", got, protocol.FaultPermissionDenied)
				}
				if p := tooltest.Preview(b, tool, a); p.Problem != "" && (p.Fault == nil || p.Fault.Code != protocol.FaultPermissionDenied || p.Fault.Message != p.Problem) {
					t.Errorf("preview: got %q, %+v, want the problem with the code %q", p.Problem, p.Fault, protocol.FaultPermissionDenied)
				}
			})
		})
	}
	tooltest.Unprivileged(t, func() {
		if got := faultCode(b, "fs_grep", tooltest.Args{"path": file, "pattern": "x"}); got != protocol.FaultPermissionDenied {
			t.Errorf("fs_grep of a file: got %q, want %q", got, protocol.FaultPermissionDenied)
		}
	})
}

func TestEditOfALargeFileIsTooLarge(t *testing.T) {
	b := newBench(t)
	path := b.File("large", "")
	if err := os.Truncate(path, 64<<20+1); err != nil {
		t.Fatal(err)
	}
	a := tooltest.Args{"path": path, "oldString": "x", "newString": "y"}
	if got := faultCode(b, "Edit", a); got != protocol.FaultTooLarge {
		t.Errorf("got %q, want %q", got, protocol.FaultTooLarge)
	}
	if p := tooltest.Preview(b, "Edit", a); p.Fault == nil || p.Fault.Code != protocol.FaultTooLarge || p.Fault.Message != p.Problem {
		t.Errorf("preview: got %q, %+v, want the code %q", p.Problem, p.Fault, protocol.FaultTooLarge)
	}
}
