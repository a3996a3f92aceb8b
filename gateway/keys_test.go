//go:build unix

package gateway_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/node"
)

// TestAgentAsksBeforeItReadsKeysInTheWorkspace has the person's home folder as workspace.
func TestAgentAsksBeforeItReadsKeysInTheWorkspace(t *testing.T) {
	home, log := t.TempDir(), slog.New(slog.DiscardHandler)
	for name, text := range map[string]string{".ssh/id_ed25519": "the private part", "notes.txt": "buy milk"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "kill-test")
	g, err := gateway.Open(t.Context(), gateway.Options{Home: t.TempDir(), Listen: "127.0.0.1:0", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.New(node.Options{ID: "box", URL: g.URL(), Token: "kill-test", Workspace: home, LogDir: t.TempDir(), Logger: log, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer func() {
		cancel()
		wg.Wait()
		g.Close()
	}()
	wg.Go(func() { g.Run(ctx) })
	wg.Go(func() { n.Run(ctx) })
	conn, stop := dial(t, g.URL())
	defer stop()
	polltest.Until(t, "the node", func() bool {
		for _, n := range must(t, conn, protocol.NodesList, protocol.Empty{}).Nodes {
			if n.ID == "box" && n.Online {
				return true
			}
		}
		return false
	})
	const chat = protocol.SessionKey("agent:main:app:chat:keys")
	heard := func() string {
		var b strings.Builder
		for _, m := range chatMessages(t, conn, chat) {
			if m.Role != protocol.RoleUser {
				b.WriteString(m.Content.Text())
			}
		}
		return b.String()
	}
	must(t, conn, protocol.ChatSend, protocol.ChatSendParams{SessionKey: chat, Message: "read notes.txt on box"})
	polltest.Until(t, "what may be read", func() bool { return strings.Contains(heard(), "buy milk") })
	must(t, conn, protocol.ChatSend, protocol.ChatSendParams{SessionKey: chat, Message: "read .ssh/id_ed25519 on box"})
	var open []protocol.Question
	polltest.Until(t, "the question", func() bool {
		open = must(t, conn, protocol.QuestionList, protocol.Empty{}).Questions
		return len(open) > 0 || strings.Contains(heard(), "the private part")
	})
	if len(open) != 1 || open[0].Why != "Reads passwords, keys or tokens: ~/.ssh" {
		t.Fatalf(`asked: got %+v; want length 1 and open[0].Why "Reads passwords, keys or tokens: ~/.ssh"`, open)
	}
	must(t, conn, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: open[0].ID, Hash: open[0].Hash, Decision: protocol.DecisionDeny})
	polltest.Until(t, "the end of the call", func() bool { return strings.Contains(strings.ToLower(heard()), "denied") })
	if strings.Contains(heard(), "the private part") {
		t.Error("the agent has the key")
	}
}
