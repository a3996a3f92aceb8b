package node

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// TestDenyRulesWithWildcardsHoldForCode runs commands that write under rules which deny it, in the
// workspace and in the private /tmp.
func TestDenyRulesWithWildcardsHoldForCode(t *testing.T) {
	t.Setenv("SHELL", "/bin/sh")
	n, _ := newTempNode(t, func(o *Options) { o.Confine.WholeDisk = true })
	ws := n.ws.Dir()
	at := func(rel string) string { return filepath.Join(ws, rel) }
	if got, want := n.Hello().Host.Enforcement.SetsAside, []string{ws, "/tmp"}; !slices.Equal(got, want) {
		t.Errorf("announced folders: got %q, want %q", got, want)
	}
	for _, rel := range []string{"old.key", "sub/old.key"} {
		if err := os.MkdirAll(filepath.Dir(at(rel)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(rel), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name := protocol.NewID()
	rules := &protocol.CommandRules{ReadOnly: []string{filepath.ToSlash(ws) + "/**/*.key", "/tmp/" + name + "/*.sock", "/tmp/" + name + ".flag"}}
	run := func(command string) string {
		t.Helper()
		args, err := json.Marshal(map[string]any{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		r := n.call(context.Background(), protocol.ToolInvoke{CallID: protocol.CallID(protocol.NewID()), Tool: "Bash", Args: args, Rules: rules})
		return string(r.Result) + r.Error
	}
	for _, command := range []string{
		"echo x >a.key", "echo x >old.key; rm -f old.key; mv sub s2", "echo x >b && mv b sub/c.key", "mkdir -p d/e && cp /etc/hostname d/e/f.key",
		"(sleep 0.1; echo x >late.key) & wait", "mkdir /tmp/" + name + "; echo x >/tmp/" + name + "/a.sock", "cp /etc/hostname /tmp/" + name + ".flag",
	} {
		t.Run(command, func(t *testing.T) {
			out := run(command)
			for _, rel := range []string{"a.key", "sub/c.key", "d/e/f.key", "late.key"} {
				if _, err := os.Lstat(at(rel)); err == nil {
					t.Errorf("%s is there: %s", rel, out)
				}
			}
			for _, rel := range []string{"old.key", "sub/old.key"} {
				if data, _ := os.ReadFile(at(rel)); string(data) != "mine" {
					t.Errorf("%s: got %q, want it unchanged: %s", rel, data, out)
				}
			}
			if left := run("ls /tmp/" + name + "/*.sock /tmp/" + name + ".flag 2>/dev/null"); strings.Contains(left, name) {
				t.Errorf("temporary files: got %s, want none", left)
			}
			if isRefused := strings.Contains(command, "old.key"); !isRefused && !strings.Contains(out, "rule denies") && !strings.Contains(out, "A rule denies") {
				t.Errorf("result: got %s, want a note", out)
			}
		})
	}
}
