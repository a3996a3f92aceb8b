package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
	"fairlead/node/transfer"
	"fairlead/node/workspace"
)

// TestReadOnlyMachineIsNotChanged tries every kind of access: tools, the file browser,
// transfers, and commands where the machine can restrict them.
func TestReadOnlyMachineIsNotChanged(t *testing.T) {
	dir, grant, other := realFolder(t, t.TempDir()), realFolder(t, t.TempDir()), realFolder(t, t.TempDir())
	for _, d := range []string{dir, grant, other} {
		if err := os.WriteFile(filepath.Join(d, "f"), []byte("old\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n, err := New(Options{ID: "a", Workspace: dir, URL: "ws://x/ws", Home: t.TempDir(), Confine: Confinement{
		Mode: sandbox.ReadOnly, Grants: []workspace.Grant{{Dir: grant}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	for _, f := range n.Hello().Host.Folders {
		if !f.ReadOnly {
			t.Errorf("got folder %s for writing, want all read-only", f.Path)
		}
	}
	try := func(tool string, in map[string]any, open ...protocol.FolderAccess) {
		t.Helper()
		if r := n.call(t.Context(), protocol.ToolInvoke{CallID: "c", Tool: tool, Args: arguments(t, in), SessionKey: "s", RunID: "r"}); !strings.Contains(r.Error, "read-only") {
			t.Errorf("%s %v: got %+v, want read-only", tool, in, r)
		}
	}
	for _, d := range []string{dir, grant} {
		f := filepath.Join(d, "f")
		try("Write", map[string]any{"path": f, "content": "x"})
		try("Write", map[string]any{"path": filepath.Join(d, "new/deep"), "content": "x"})
		try("Edit", map[string]any{"path": f, "oldString": "old", "newString": "new"})
		try(protocol.ActMake, map[string]any{"path": filepath.Join(d, "made")})
		try(protocol.ActMove, map[string]any{"path": f, "to": filepath.Join(d, "moved")})
		try(protocol.ActTrash, map[string]any{"path": f, "paths": []string{f}})
		try(protocol.ActRestore, map[string]any{"id": "1-a"})
		files := transfer.NewFiles(n.ws, transfer.Policy{})
		if _, err := files.Target(filepath.Join(d, "sent"), false, true); err == nil || !strings.Contains(err.Error(), "read-only") {
			t.Errorf(`a transfer: got %v, want an error with "read-only"`, err)
		}
		if err := files.Consent(t.Context(), protocol.TransferReceive{Path: f}); err == nil || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("a transfer is agreed to: %v", err)
		}
		if item, err := files.Source(f); err != nil {
			t.Errorf("a transfer away: %v", err)
		} else {
			item.Root.Close()
		}
		var out struct{ Content string }
		if r := n.call(t.Context(), protocol.ToolInvoke{CallID: "c", Tool: "Read", Args: arguments(t, map[string]any{"path": f})}); json.Unmarshal(r.Result, &out) != nil || !strings.Contains(out.Content, "old") {
			t.Errorf("reading: got %+v, want the file", r)
		}
	}
	// No folder is offered for writing, and one that is opened all the same is not written.
	outside := arguments(t, map[string]any{"path": filepath.Join(other, "f"), "content": "x"})
	if p := n.previewOf(t, "Write", outside); len(p.Folders) > 0 || p.Problem == "" {
		t.Errorf("outside: got preview %+v, want a problem and no folder", p)
	}
	if p := n.previewOf(t, "Write", arguments(t, map[string]any{"path": "f", "content": "x"})); !strings.Contains(p.Problem, "read-only") {
		t.Errorf("got preview %+v, want the problem read-only", p)
	}
	n.call(t.Context(), n.allowed(t, "Write", outside, protocol.FolderAccess{Path: other, Write: true}))
	if n.box.Report().ConfinesFiles() {
		command := arguments(t, map[string]any{"command": "echo x >f; echo x >new; echo x >" + grant + "/f; echo x >" + grant + "/new; rm f"})
		n.call(t.Context(), protocol.ToolInvoke{CallID: "c", Tool: "Bash", Args: command})
	}
	for _, d := range []string{dir, grant, other} {
		list, err := os.ReadDir(d)
		if text, _ := os.ReadFile(filepath.Join(d, "f")); err != nil || len(list) != 1 || string(text) != "old\n" {
			t.Errorf("%s: got %v with %q, error %v, want the old file alone", d, list, text, err)
		}
	}
}
