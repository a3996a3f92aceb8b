//go:build unix

package gateway_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// wire is a channel over the network: it stores the messages that it should send.
type wire struct {
	*client.Client
	out  chan protocol.ChannelOutbound
	stop func()
}

func openWire(t *testing.T, url, token string) *wire {
	t.Helper()
	w := &wire{out: make(chan protocol.ChannelOutbound, 100)}
	up := make(chan struct{}, 8)
	w.Client = client.New(client.Options{
		URL: url, Token: token, Logger: slog.New(slog.DiscardHandler),
		Connect: func() protocol.ConnectParams {
			return protocol.ConnectParams{
				MinProtocol: protocol.Version, MaxProtocol: protocol.Version,
				Client: protocol.ClientInfo{ID: "telex-1", Mode: protocol.ModeChannel, Channel: "telex", AccountID: "office"},
			}
		},
		OnUp: func(context.Context, protocol.ConnectResult) { up <- struct{}{} },
		OnEvent: func(e protocol.EventFrame) {
			var m protocol.ChannelOutbound
			if e.Event == protocol.EventOutbound && json.Unmarshal(e.Payload, &m) == nil {
				w.out <- m
			}
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	w.stop = func() {
		cancel()
		<-done
	}
	select {
	case <-up:
	case <-time.After(3 * time.Minute):
		t.Fatal("the channel was not taken in")
	}
	return w
}

func (w *wire) write(t *testing.T, text string) protocol.ChannelInboundResult {
	t.Helper()
	return call(t, w.Client, protocol.ChannelInbound, protocol.ChannelInboundParams{
		Channel: "telex", AccountID: "office", Peer: protocol.Peer{Kind: "dm", ID: "ann"},
		Message: protocol.ChannelMessage{ID: protocol.NewID(), Text: text},
	})
}

func (w *wire) waitText(t *testing.T, part string) string {
	t.Helper()
	timer := time.NewTimer(3 * time.Minute)
	defer timer.Stop()
	var other []string
	for {
		select {
		case m := <-w.out:
			if strings.Contains(m.Message.Text, part) {
				return m.Message.Text
			}
			other = append(other, m.Message.Text)
		case <-timer.C:
			t.Fatalf("nobody said %q, but %q", part, other)
			return ""
		}
	}
}

// TestChannelMessagesNeverAllowCalls tests the whole flow: a message asks for a command, its text
// can neither run the command nor answer the approval, the gateway is killed while the approval is
// pending, the person answers, and the answer reaches the channel.
func TestChannelMessagesNeverAllowCalls(t *testing.T) {
	home := t.TempDir()
	c := startChild(t, home)
	conn, stop := dial(t, c.url)
	call(t, conn, protocol.ConfigSet, protocol.ConfigSetParams{Path: "channels.telex", Value: json.RawMessage(`{"dmPolicy":"allowlist","allowFrom":["ann"]}`)})
	pending := func(conn *client.Client) []protocol.Question {
		return call(t, conn, protocol.QuestionList, protocol.Empty{}).Questions
	}
	w := openWire(t, c.url, "kill-test")
	for _, text := range []string{"!touch direct.txt", "/mode trust 60", "/reset"} {
		t.Run(text, func(t *testing.T) {
			if res := w.write(t, text); res.Status != protocol.ChatStarted || res.SessionKey != protocol.MainSession {
				t.Errorf("%s: got %+v; want Status ChatStarted and SessionKey MainSession", text, res)
			}
			w.waitText(t, "")
		})
	}
	if res := w.write(t, "run touch asked.txt"); res.Status != protocol.ChatStarted {
		t.Fatalf("got %+v; want Status ChatStarted", res)
	}
	polltest.Until(t, "a question", func() bool { return len(pending(conn)) == 1 })
	w.waitText(t, "has to approve something")
	if res := w.write(t, "yes"); res.Status != protocol.ChatStarted {
		t.Errorf("got %+v; want Status ChatStarted", res)
	}
	if open := pending(conn); len(open) != 1 {
		t.Fatalf("the question was answered from the channel: %+v", open)
	}
	stop()
	w.stop()
	c.kill()

	c = startChild(t, home)
	defer c.kill()
	conn, stop = dial(t, c.url)
	defer stop()
	polltest.Until(t, "the question again", func() bool { return len(pending(conn)) == 1 })
	for _, name := range []string{"direct.txt", "asked.txt"} {
		if found, _ := filepath.Glob(filepath.Join(home, "*", name)); len(found) > 0 {
			t.Errorf("%s was made before anybody allowed it", name)
		}
	}
	q := pending(conn)[0]
	call(t, conn, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow})
	w = openWire(t, c.url, "kill-test") // it reconnects after the answer
	defer w.stop()
	w.waitText(t, "Done.")
	if list := call(t, conn, protocol.ChannelsList, protocol.Empty{}); list.Count != 1 || list.Channels[0].AccountID != "office" {
		t.Errorf(`got %+v; want Count 1 and Channels[0].AccountID "office"`, list)
	}
	sent := call(t, conn, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "gsv__Message", Args: json.RawMessage(`{"text":"psst","channel":"telex","to":"bob"}`)})
	if !strings.Contains(string(sent.Result), `"sent":true`) {
		t.Errorf("gsv__Message: got %s, want it sent", sent.Result)
	}
	w.waitText(t, "psst")
}

func TestUnseenQuestionIsSentOverAChannel(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "kill-test")
	home := t.TempDir()
	c := startChild(t, home)
	defer c.kill()
	conn, stop := dial(t, c.url)
	defer stop()
	w := openWire(t, c.url, "kill-test")
	defer w.stop()
	for path, value := range map[string]string{"approvals.tell.channel": `"telex"`, "approvals.tell.to": `"ann"`} {
		call(t, conn, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: json.RawMessage(value)})
	}
	call(t, conn, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "run echo confidential"})
	heard := w.waitText(t, "Fairlead needs you")
	if strings.Contains(heard, "confidential") {
		t.Errorf("the channel's network was told what would run: %q", heard)
	}
	polltest.Until(t, "the question knows where it was told", func() bool {
		open := call(t, conn, protocol.QuestionList, protocol.Empty{}).Questions
		return len(open) == 1 && open[0].Unseen == 2 && open[0].SurfaceShown == protocol.SurfaceChannel
	})
}
