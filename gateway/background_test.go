//go:build unix

package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// childNode, if set, makes the test binary a node that connects to that URL, until it is killed.
// childListen is the address of a child gateway.
const (
	childNode   = "FAIRLEAD_TEST_CHILD_NODE"
	childListen = "FAIRLEAD_TEST_CHILD_LISTEN"
)

func runNode(url string) {
	dir := os.Getenv("FAIRLEAD_HOME")
	n, err := node.New(node.Options{ID: "box", URL: url, Token: "kill-test", Workspace: dir, LogDir: dir, Logger: slog.New(slog.DiscardHandler), Version: "test"})
	if err == nil {
		err = n.Run(context.Background())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// startNode starts a node in its own process, with its own folder.
func startNode(t *testing.T, url string) { startNodeIn(t, url, t.TempDir()) }

// startNodeIn is startNode with a folder; kill stops it.
func startNodeIn(t *testing.T, url, dir string) (kill func()) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), childNode+"="+url, "FAIRLEAD_SECRETS=file", "FAIRLEAD_HOME="+dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() { cmd.Process.Kill(); cmd.Wait() })
	t.Cleanup(kill)
	return kill
}

func must[P, R any](t *testing.T, c *client.Client, m protocol.Method[P, R], p P) R {
	t.Helper()
	r, err := client.Call(t.Context(), c, m, p)
	if err != nil {
		t.Fatalf("%s: %v", m.Name, err)
	}
	return r
}

// chatMessages returns the messages of a chat; none while the chat does not exist.
func chatMessages(t *testing.T, c *client.Client, key protocol.SessionKey) []protocol.Message {
	r, err := client.Call(t.Context(), c, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: key})
	if err != nil {
		return nil
	}
	return r.Messages
}

// completionReports returns the background command reports that a chat received, and the agent's
// answers.
func completionReports(t *testing.T, c *client.Client, key protocol.SessionKey) (ends []protocol.ExecCompletion, answers []string) {
	for _, m := range chatMessages(t, c, key) {
		if e, ok := m.Completion(); ok {
			ends = append(ends, e)
		}
		if m.Role == protocol.RoleAssistant {
			answers = append(answers, m.Content.Text())
		}
	}
	return ends, answers
}

func TestABackgroundCommandReportsAfterAKilledGateway(t *testing.T) {
	home, gate := t.TempDir(), filepath.Join(t.TempDir(), "go")
	listen := porttest.Free(t)
	g := startChild(t, home, childListen+"="+listen)
	conn, stop := dial(t, g.url)
	startNode(t, g.url)
	online := func() bool {
		for _, n := range must(t, conn, protocol.NodesList, protocol.Empty{}).Nodes {
			if n.ID == "box" && n.Online {
				return true
			}
		}
		return false
	}
	polltest.Until(t, "the node", online)
	ask := func(chat protocol.SessionKey, tool protocol.ToolName, args map[string]any) {
		t.Helper()
		raw, _ := json.Marshal(args)
		before := len(chatMessages(t, conn, chat))
		must(t, conn, protocol.RequestTool, protocol.ToolRequestParams{CallID: protocol.NewCallID(), Tool: tool, Args: raw, SessionKey: chat})
		polltest.Until(t, "the result of the call", func() bool {
			msgs := chatMessages(t, conn, chat)
			return slices.ContainsFunc(msgs[min(before, len(msgs)):], func(m protocol.Message) bool { return m.Role == protocol.RoleToolResult })
		})
	}
	begin := func(chat protocol.SessionKey, command string) {
		t.Helper()
		ask(chat, "box__Bash", map[string]any{"command": command, "background": true})
	}
	const a, b, c = protocol.SessionKey("agent:main:app:chat:a"), protocol.SessionKey("agent:main:app:chat:b"), protocol.SessionKey("agent:main:app:chat:c")
	wait := "until [ -e '" + gate + "' ]; do sleep 0.05; done; "
	begin(a, wait+"echo done in a")
	begin(b, wait+"echo broken in b; exit 3")
	begin(c, "sleep 0.2; echo done in c") // may end while the gateway is there, while it is down, or after

	stop()
	g.kill()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	g = startChild(t, home, childListen+"="+listen)
	defer func() { g.kill() }()
	conn, stop = dial(t, g.url)
	for chat, want := range map[protocol.SessionKey][2]string{a: {"has finished", "done in a"}, b: {"failed with exit code 3", "broken in b"}, c: {"has finished", "done in c"}} {
		polltest.Until(t, "the answer in "+string(chat), func() bool { _, answers := completionReports(t, conn, chat); return len(answers) > 0 })
		ends, answers := completionReports(t, conn, chat)
		if len(ends) != 1 || len(answers) != 1 {
			t.Fatalf("%s was told %+v, the agent said %q", chat, ends, answers)
		}
		if e := ends[0]; e.NodeID != "box" || e.Outcome() != want[0] || strings.TrimSpace(e.OutputTail) != want[1] || e.EndedAt < e.StartedAt || e.CallID == "" {
			t.Errorf("%s was told %+v, want box, %q and %q", chat, e, want[0], want[1])
		}
		if !strings.Contains(answers[0], want[0]) || !strings.Contains(answers[0], want[1]) {
			t.Errorf("the agent said in %s: got %q, want %q and %q in it", chat, answers[0], want[0], want[1])
		}
	}
	stop()
	g.kill()

	g = startChild(t, home, childListen+"="+listen)
	conn, stop = dial(t, g.url)
	defer stop()
	polltest.Until(t, "the node", online)
	const d = protocol.SessionKey("agent:main:app:chat:d")
	begin(d, "sleep 0.3")
	// the node's repeated report came before it
	polltest.Until(t, "the answer in d", func() bool { _, answers := completionReports(t, conn, d); return len(answers) > 0 })
	for _, chat := range []protocol.SessionKey{a, b, c, d} {
		if ends, answers := completionReports(t, conn, chat); len(ends) != 1 || len(answers) != 1 {
			t.Errorf("%s was told %+v, the agent said %q", chat, ends, answers)
		}
	}

	// A command that the chat itself has stopped starts no run.
	const e = protocol.SessionKey("agent:main:app:chat:e")
	begin(e, "sleep 999")
	var out struct{ SessionID string }
	for _, m := range chatMessages(t, conn, e) {
		if m.Role == protocol.RoleToolResult {
			json.Unmarshal([]byte(m.Content.Text()), &out)
		}
	}
	ask(e, "box__Process", map[string]any{"action": "kill", "sessionId": out.SessionID})
	polltest.Until(t, "the notice in e", func() bool {
		return slices.ContainsFunc(chatMessages(t, conn, e), func(m protocol.Message) bool { return m.Origin == protocol.OriginNotice })
	})
	if ends, answers := completionReports(t, conn, e); len(ends) != 0 || len(answers) != 1 || !strings.Contains(answers[0], "sleep 999") {
		t.Errorf("e was told %+v, and reads %q", ends, answers)
	}
}
