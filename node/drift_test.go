package node

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// TestOnlyTheApprovedCallRuns checks that any difference between the approved call and the call
// about to run makes the node refuse it.
func TestOnlyTheApprovedCallRuns(t *testing.T) {
	n := newPlainNode(t)
	file := filepath.Join(n.ws.Dir(), "a.txt")
	if err := os.WriteFile(file, []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	approve := func(tool, args string) protocol.ToolInvoke {
		r := n.call(t.Context(), protocol.ToolInvoke{CallID: "p", Tool: tool, Args: json.RawMessage(args), Preview: true})
		var p protocol.CallPreview
		if err := json.Unmarshal(r.Result, &p); err != nil {
			t.Fatalf("preview: got %s, want JSON: %v", r.Result, err)
		}
		hash, err := protocol.CallHash(protocol.AskCall, n.opts.ID, tool, json.RawMessage(args), &p, "7")
		if err != nil {
			t.Fatal(err)
		}
		return protocol.ToolInvoke{CallID: "c", Tool: tool, Args: json.RawMessage(args), Approved: hash, Policy: "7", Expect: p.FileSHA256}
	}
	command := approve("Bash", `{"command":"echo allowed > made.txt"}`)
	command.Expect = "" // the gateway sets it for files only
	other := command
	other.Args = json.RawMessage(`{"command":"echo other > made.txt"}`)
	elsewhere := command
	elsewhere.Args = json.RawMessage(`{"command":"echo allowed > made.txt","workdir":"sub"}`)
	rules := command
	rules.Policy = "8"
	for name, inv := range map[string]protocol.ToolInvoke{"command": other, "folder": elsewhere, "version of the rules": rules} {
		t.Run(name, func(t *testing.T) {
			if r := n.call(t.Context(), inv); !strings.Contains(r.Error, "APPROVAL_DRIFT") && !strings.Contains(r.Error, "sub") {
				t.Errorf("another %s: got %+v, want APPROVAL_DRIFT", name, r)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(n.ws.Dir(), "made.txt")); err == nil {
		t.Error("something ran")
	}
	if r := n.call(t.Context(), command); r.Error != "" {
		t.Errorf("got %+v, want that the allowed command ran", r)
	}
	edit := approve("Edit", `{"path":"a.txt","oldString":"old","newString":"new"}`)
	if err := os.WriteFile(file, []byte("old, and changed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := n.call(t.Context(), edit); !strings.Contains(r.Error, "changed after it was shown") {
		t.Errorf("another file: got %+v, want that it changed", r)
	} else if f := r.Fault; f == nil || f.Code != protocol.FaultFailedPrecondition || !strings.Contains(string(f.Details), fmt.Sprintf("%x", sha256.Sum256([]byte("old, and changed\n")))) {
		t.Errorf("another file: got the fault %+v, want a failed precondition with the checksum", f)
	}
	link := approve("Write", `{"path":"b.txt","content":"x"}`)
	if err := os.Symlink("a.txt", filepath.Join(n.ws.Dir(), "b.txt")); err != nil {
		t.Skip("no links here:", err)
	}
	if r := n.call(t.Context(), link); r.Error == "" {
		t.Errorf("another target: got %+v, want an error", r)
	}
	if data, _ := os.ReadFile(file); string(data) != "old, and changed\n" {
		t.Errorf("got file %q, want %q", data, "old, and changed\n")
	}
}

func TestCommandKnowsItsIdempotencyKey(t *testing.T) {
	n := newPlainNode(t)
	r := n.call(t.Context(), protocol.ToolInvoke{CallID: "c", Tool: "Bash", Args: json.RawMessage(`{"command":"echo $FAIRLEAD_IDEMPOTENCY_KEY"}`), IdempotencyKey: "k1:ABC"})
	if !strings.Contains(string(r.Result), "k1:ABC") {
		t.Errorf("got %s, error %q, want the key k1:ABC", r.Result, r.Error)
	}
}

func TestOnlyThePersonsCommandUsesTheirGitConfiguration(t *testing.T) {
	n := newPlainNode(t)
	for _, direct := range []bool{false, true} {
		r := n.call(t.Context(), protocol.ToolInvoke{CallID: "c", Tool: "Bash", Args: json.RawMessage(`{"command":"echo count=$GIT_CONFIG_COUNT."}`), Direct: direct})
		if got := strings.Contains(string(r.Result), "count=."); got != direct {
			t.Errorf("direct %v: got %s, error %q, want git settings unless direct", direct, r.Result, r.Error)
		}
	}
}

// newPlainNode is a node with its own tools.
func newPlainNode(t *testing.T) *Node {
	t.Helper()
	n, err := New(Options{ID: "a", Workspace: t.TempDir(), URL: "ws://x/ws"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// TestCommandRunsOnlyInTheShownFolderWithTheShownPrograms replaces the folder, a program or a script
// of a command after the person was asked about it.
func TestCommandRunsOnlyInTheShownFolderWithTheShownPrograms(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		swap    func(dir string) error
		drifts  bool
	}{
		"nothing":             {"./build.sh; touch marker", func(string) error { return nil }, false},
		"another file":        {"./build.sh; touch marker", func(dir string) error { return os.WriteFile(filepath.Join(dir, "sub", "notes"), nil, 0o600) }, false},
		"folder for another":  {"touch marker", func(dir string) error { return swapFolder(dir, os.Rename) }, true},
		"folder for a link":   {"touch marker", func(dir string) error { return swapFolder(dir, os.Symlink) }, true},
		"program":             {"./build.sh", func(dir string) error { return rewrite(dir, "build.sh") }, true},
		"program behind a cd": {"cd tools && ./x.sh", func(dir string) error { return rewrite(dir, "tools/x.sh") }, true},
		"script":              {"sh build.sh", func(dir string) error { return rewrite(dir, "build.sh") }, true},
		"program in a list":   {"true && ./build.sh a", func(dir string) error { return rewrite(dir, "build.sh") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			n := newPlainNode(t)
			dir := n.ws.Dir()
			for _, file := range []string{"sub/build.sh", "sub/tools/x.sh", "venv/build.sh"} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte("#!/bin/sh\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			inv := n.allowed(t, "Bash", arguments(t, map[string]any{"command": c.command, "workdir": "sub"}))
			if err := c.swap(dir); err != nil {
				t.Fatalf("swapping: got error %v, want none", err)
			}
			r := n.call(t.Context(), inv)
			if drifts := strings.Contains(r.Error, "APPROVAL_DRIFT"); drifts != c.drifts {
				t.Errorf("after a swap of %s: got %+v, want a drift: %v", name, r, c.drifts)
			}
		})
	}
}

func swapFolder(dir string, replace func(from, to string) error) error {
	sub, venv := filepath.Join(dir, "sub"), filepath.Join(dir, "venv")
	if err := os.Rename(sub, filepath.Join(dir, "old")); err != nil {
		return err
	}
	return replace(venv, sub)
}

func rewrite(dir, name string) error {
	return os.WriteFile(filepath.Join(dir, "sub", filepath.FromSlash(name)), []byte("#!/bin/sh\necho other\n"), 0o700)
}
