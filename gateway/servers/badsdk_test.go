//go:build unix

package servers_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// pythonOfServers and nodeOfServers name a Python and a Node.js with the SDKs of MCP, the latter in
// a folder with node_modules. packaging/conformance.sh sets them.
const (
	pythonOfServers = "FAIRLEAD_BAD_PYTHON"
	nodeOfServers   = "FAIRLEAD_BAD_NODE"
	modulesOfNode   = "FAIRLEAD_BAD_MODULES"
)

// TestBadServersOfOtherSDKs uses servers that do wrong what an SDK does not prevent.
func TestBadServersOfOtherSDKs(t *testing.T) {
	scripts, err := filepath.Abs("../../packaging/conformance")
	if err != nil {
		t.Fatal(err)
	}
	commands := make(map[string][]string)
	if python := os.Getenv(pythonOfServers); python != "" {
		commands["py"] = []string{python, scripts + "/bad.py"}
	}
	if node := os.Getenv(nodeOfServers); node != "" {
		commands["ts"] = []string{node, scripts + "/bad.mjs"}
	}
	if len(commands) == 0 {
		t.Skip("the SDKs of others are not part of the repository: packaging/conformance.sh installs them and runs this test")
	}
	for sdk, command := range commands {
		t.Run(sdk, func(t *testing.T) {
			h := startGateway(t)
			var names []protocol.ServerName
			for _, fault := range []string{"duplicates", "cursor", "flood", "invalid", "noise", "exit"} {
				name := protocol.ServerName(sdk + "-" + fault)
				spec := protocol.ServerSpec{Command: command[0], Args: append(command[1:len(command):len(command)], fault, os.Getenv(modulesOfNode)), Network: protocol.ServerNetworkNo}
				ask(h, protocol.ServerSet, protocol.ServerSetParams{Name: name, Spec: spec})
				names = append(names, name)
			}
			for _, name := range names {
				h.checkRestServed(name, strings.TrimPrefix(string(name), sdk+"-"))
			}
			h.checkFailsAlone(names[0])
		})
	}
}

// checkRestServed checks that a bad server serves the rest, and that its log or state says what is
// wrong.
func (h *testGateway) checkRestServed(name protocol.ServerName, fault string) {
	h.t.Helper()
	if fault == "exit" {
		h.until("the end of "+string(name), func() bool { return strings.Contains(h.status(name).Error, "exit code 1: Error: API_KEY is not set") })
		return
	}
	h.untilState(name, protocol.ServerReady)
	tools := h.tools(name)
	tools = slices.DeleteFunc(tools, func(tool string) bool { return tool == "broken" }) // without its schema
	if slices.Sort(tools); !slices.Equal(tools, []string{"good", "leave", "never"}) {
		h.t.Errorf("%s: got the tools %q, want each once", name, tools)
	}
	if got := h.invoke(protocol.NewToolName(protocol.NodeID(name), "good"), `{}`); got != "hello" {
		h.t.Errorf("%s: got %q, want hello", name, got)
	}
	want := map[string]string{"duplicates": `Another tool "good" is left out`, "cursor": "does not end", "invalid": `The schema of the tool "broken" is invalid`, "noise": "{ not even JSON"}[fault]
	if log := h.log(name); !strings.Contains(log, want) {
		h.t.Errorf("%s: got the log:\n%s\nwant %q in it", name, log, want)
	}
}

// checkFailsAlone makes calls that never end, and that end the server.
func (h *testGateway) checkFailsAlone(name protocol.ServerName) {
	h.t.Helper()
	ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: "timeouts.toolMs", Value: []byte("1000")})
	call := func(tool string) string { return h.invoke(protocol.NewToolName(protocol.NodeID(name), tool), `{}`) }
	if got := call("never"); !strings.Contains(got, "timed out") {
		h.t.Errorf("a call without an answer: got %q, want a timeout", got)
	}
	ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: "timeouts.toolMs", Value: []byte("60000")})
	if got := call("leave"); !strings.Contains(got, "Unknown outcome") && !strings.Contains(got, "connection") {
		h.t.Errorf("a call that ends the server: got %q, want an unknown outcome", got)
	}
	h.until("the reason in the log", func() bool { return strings.Contains(h.log(name), "exit code 4: the disk of the server is full") })
	h.untilState(name, protocol.ServerReady) // again
}
