package node

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

// TestCommandGetsTheNetworkOnlyWhenItWasAllowed tests each network setting, with and without the
// person's permission.
func TestCommandGetsTheNetworkOnlyWhenItWasAllowed(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3 to open a socket with:", err)
	}
	const socket = `{"command":"python3 -c 'import socket; socket.socket(); print(\"open\")'","network":%}`
	for _, c := range []struct {
		network          sandbox.Network
		wants, granted   bool
		open             bool
		refusal, problem string
	}{
		{sandbox.NetBlocked, false, false, false, "", ""},
		{sandbox.NetBlocked, true, true, false, "The network is blocked", "The network is blocked"},
		{AskNetwork, false, false, false, "", ""},
		{AskNetwork, false, true, false, "", ""},
		{AskNetwork, true, false, false, "The network was not allowed", ""},
		{AskNetwork, true, true, true, "", ""},
		{sandbox.NetAllowed, true, false, true, "", ""},
	} {
		n, err := New(Options{ID: "a", Workspace: t.TempDir(), URL: "ws://x/ws", Confine: Confinement{Network: c.network}})
		if err != nil {
			t.Fatal(err)
		}
		if !n.enforces("net.tcp") {
			n.Close()
			t.Skip("this machine cannot keep commands off the network")
		}
		args := json.RawMessage(strings.Replace(socket, "%", map[bool]string{true: "true", false: "false"}[c.wants], 1))
		r := n.call(t.Context(), protocol.ToolInvoke{CallID: "c", Tool: "Bash", Args: args, Network: c.granted})
		if !strings.Contains(r.Error, c.refusal) || (r.Error == "") != (c.refusal == "") || c.refusal == "" && strings.Contains(string(r.Result), "open\\n") != c.open {
			t.Errorf("got %s, error %q, want %+v", r.Result, r.Error, c)
		}
		if held := strings.Contains(string(r.Result), "network blocked"); r.Error == "" && held == c.open {
			t.Errorf("got %s, want the limits of %+v", r.Result, c)
		}
		var p protocol.CallPreview
		seen := n.call(t.Context(), protocol.ToolInvoke{CallID: "p", Tool: "Bash", Args: args, Preview: true})
		if json.Unmarshal(seen.Result, &p) != nil || p.Network != c.wants || !strings.Contains(p.Problem, c.problem) || (p.Problem == "") != (c.problem == "") {
			t.Errorf("got preview %+v, want %+v", p, c)
		}
		n.Close()
	}
}

// enforces reports whether the machine enforces a guarantee.
func (n *Node) enforces(id string) bool {
	for _, c := range n.box.Report().Checks {
		if c.ID == id {
			return c.Enforced
		}
	}
	return false
}
