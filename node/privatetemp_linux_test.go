package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

// newTempNode returns a function that calls the tools of a node whose commands have a private /tmp.
func newTempNode(t *testing.T, change func(*Options)) (n *Node, call func(tool string, args map[string]any) string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "ws"), 0o700); err != nil {
		t.Fatal(err)
	}
	opts := Options{ID: "a", URL: "ws://x/ws", Workspace: filepath.Join(dir, "ws"), Home: filepath.Join(dir, "home")}
	change(&opts)
	n, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	if n.box.PrivateTemp(opts.Confine.profile(n.ws.Dir())) == "" {
		if n.box.Report().Check(sandbox.CheckProtected).Enforced {
			t.Fatal("commands have no private /tmp, want one")
		}
		t.Skip("this machine cannot protect files, and gives commands no private /tmp")
	}
	return n, func(tool string, args map[string]any) string {
		t.Helper()
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		r := n.call(context.Background(), protocol.ToolInvoke{CallID: protocol.CallID(protocol.NewID()), Tool: tool, Args: raw})
		return string(r.Result) + r.Error
	}
}

func TestToolsAndCommandsShareTmp(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	_, call := newTempNode(t, func(o *Options) { o.Confine.WholeDisk = true })
	name := "/tmp/" + protocol.NewID()
	bash := func(command string) string { t.Helper(); return call("Bash", map[string]any{"command": command}) }
	bash(fmt.Sprintf("mkdir %s && echo needle >%s/log && echo top >%s.txt", name, name, name))
	for tool, args := range map[string]map[string]any{
		"Read": {"path": name + "/log"}, "fs_read": {"path": name + "/log", "encoding": "utf8"}, "fs_list": {"path": name},
		"Glob": {"pattern": "*.txt", "path": "/tmp"}, "Grep": {"pattern": "needle", "path": name},
	} {
		want := map[string]string{"fs_list": "log", "Glob": name + ".txt"}[tool]
		if want == "" {
			want = "needle"
		}
		if out := call(tool, args); !strings.Contains(out, want) {
			t.Errorf("%s: got %.300s, want %q", tool, out, want)
		}
	}
	call("Write", map[string]any{"path": name + "/run", "content": "#!/bin/sh\necho written\n"})
	if out := bash(fmt.Sprintf("chmod +x %s/run && %s/run && rm %s/run", name, name, name)); !strings.Contains(out, "written") {
		t.Errorf("a program that Write made: got %s, want its output", out)
	}
	call("Edit", map[string]any{"path": name + "/log", "oldString": "needle", "newString": "thread"})
	if out := call("Bash", map[string]any{"command": "pwd; cat log", "workdir": name}); !strings.Contains(out, "thread") || !strings.Contains(out, name) {
		t.Errorf("a command in a private folder after Edit: got %s, want the new text", out)
	}
	if _, err := os.Lstat(name); err == nil {
		t.Errorf("got %s in the system's /tmp, want it in the private one", name)
	}
	_, other := newTempNode(t, func(o *Options) { o.Confine.WholeDisk = true })
	if out := other("Read", map[string]any{"path": name + "/log"}); strings.Contains(out, "thread") {
		t.Errorf("another node: got %s, want no file", out)
	}
}

// TestTmpNeedsItsFolderInAWorkspace reads the file of a command with and without the permission for
// /tmp.
func TestTmpNeedsItsFolderInAWorkspace(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	n, call := newTempNode(t, func(*Options) {})
	name := "/tmp/" + protocol.NewID()
	call("Bash", map[string]any{"command": "echo needle >" + name})
	args := map[string]any{"path": name}
	if out := call("Read", args); strings.Contains(out, "needle") {
		t.Errorf("Read without permission: got %s, want a refusal", out)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	var p protocol.CallPreview
	answer := n.call(context.Background(), protocol.ToolInvoke{CallID: "p", Tool: "Read", Args: raw, Preview: true})
	if err := json.Unmarshal(answer.Result, &p); err != nil || p.Path != name || !p.Outside || len(p.Folders) != 1 || p.Folders[0].Path != "/tmp" || p.Problem != "" {
		t.Errorf("preview: got %+v (%v), want a question for /tmp", p, err)
	}
}

// TestApprovedScriptInTmpIsBound changes a script of a command after the question about it.
func TestApprovedScriptInTmpIsBound(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	n, call := newTempNode(t, func(*Options) {})
	name := "/tmp/" + protocol.NewID()
	shown := func(text string) string {
		t.Helper()
		call("Bash", map[string]any{"command": "echo " + text + " >" + name})
		args := json.RawMessage(fmt.Sprintf(`{"command":"sh %s"}`, name))
		var p protocol.CallPreview
		answer := n.call(context.Background(), protocol.ToolInvoke{CallID: "p", Tool: "Bash", Args: args, Preview: true})
		if err := json.Unmarshal(answer.Result, &p); err != nil || p.FileSHA256 == "" {
			t.Fatalf("preview: got %s (%v), want a checksum", answer.Result, err)
		}
		return p.FileSHA256
	}
	if before, after := shown("one"), shown("three"); before == after {
		t.Error("the checksum of a changed script: got the same, want another one")
	}
}
