package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// withLocal runs f with a gateway of its own, which has no machine.
func withLocal(t *testing.T, f func(context.Context, *connection)) {
	t.Helper()
	withOptions(t, localOptions{home: t.TempDir()}, f)
}

// withOptions is withLocal with a node, or a home of the caller's choice.
func withOptions(t *testing.T, l localOptions, f func(context.Context, *connection)) {
	t.Helper()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	o := &options{home: l.home}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	l.listen, l.log = cmp.Or(l.listen, porttest.Free(t)), slog.New(slog.DiscardHandler)
	done := make(chan struct{})
	err := l.run(ctx, func(g *gateway.Gateway) {
		go func() {
			defer close(done)
			defer cancel()
			c, err := o.connectWith(ctx, g.URL(), client.Options{URL: g.URL(), Dial: g.Dial})
			if err != nil {
				t.Error(err)
				return
			}
			defer c.close()
			f(ctx, c)
		}()
	})
	<-done
	if err != nil {
		t.Error(err)
	}
}

func pause(ctx context.Context, t *testing.T, c *connection, paused bool) {
	if _, err := client.Call(ctx, c.Client, protocol.AgentPause, protocol.PauseParams{Paused: paused}); err != nil {
		t.Error(err)
	}
}

// queued waits until a message waits in the main chat.
func queued(ctx context.Context, t *testing.T, c *connection) {
	for ctx.Err() == nil {
		s, err := client.Call(ctx, c.Client, protocol.SessionGetStat, protocol.SessionParams{SessionKey: protocol.MainSession})
		if err == nil && s.QueueSize > 0 {
			return
		}
	}
	t.Error("no message waits")
}

func TestAMessageToAPausedAgentSaysWhyItWaits(t *testing.T) {
	withLocal(t, func(ctx context.Context, c *connection) {
		pause(ctx, t, c, true)
		var out, note bytes.Buffer
		ch := &chat{term: &terminal{out: &out, err: &note, in: newLines(strings.NewReader(""))}}
		over := make(chan error, 1)
		go func() { over <- ch.run(ctx, c, "what can you do") }()
		queued(ctx, t, c)
		pause(ctx, t, c, false)
		if err := <-over; err != nil || !strings.Contains(out.String(), "run make test") || !strings.Contains(note.String(), "The agent is paused, so your message is waiting.") {
			t.Errorf(`got %v, %q, %q; want no error, "run make test" in it and "The agent is paused, so your message is waiting." in it`, err, out.String(), note.String())
		}
	})
}

// TestAStateFromBeforeARunDoesNotEndIt: a chat whose gateway had restarted meanwhile took the
// snapshot of that time for a new one, and gave up following its next run.
func TestAStateFromBeforeARunDoesNotEndIt(t *testing.T) {
	withLocal(t, func(ctx context.Context, c *connection) {
		pause(ctx, t, c, true)
		res, err := client.Call(ctx, c.Client, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "what can you do"})
		if err != nil {
			t.Error(err)
			return
		}
		var out, note bytes.Buffer
		ch := &chat{c: c, session: protocol.MainSession, term: &terminal{out: &out, err: &note, in: newLines(strings.NewReader(""))}}
		var old protocol.FeedSnapshot
		if over, err := ch.resumeAfterGap(ctx, res.RunID, old); over || err != nil {
			t.Errorf("got %v, %v, %q; want not over and no error", over, err, note.String())
		}
		pause(ctx, t, c, false)
		for working := true; working && ctx.Err() == nil; {
			s, err := client.Call(ctx, c.Client, protocol.SessionGetStat, protocol.SessionParams{SessionKey: protocol.MainSession})
			working = err != nil || s.IsProcessing || s.QueueSize > 0
		}
		if over, err := ch.resumeAfterGap(ctx, res.RunID, old); !over || err != nil || !strings.Contains(out.String(), "run make test") {
			t.Errorf(`got %v, %v, %q; want over, no error and "run make test" in it`, over, err, out.String())
		}
	})
}

func TestCtrlCBeforeTheChatExits(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"chat", "hi"}, {"chat", "--local", "hi"}} {
		home := t.TempDir()
		t.Setenv("FAIRLEAD_HOME", home)
		root := newRoot()
		t.Setenv("FAIRLEAD_TOKEN", "t")
		root.SetArgs(append(args, "--url", "ws://"+silent.Addr().String()+"/ws", "--home", home))
		if err := root.ExecuteContext(interrupted); !errors.Is(err, context.Canceled) || exitCode(err, true) != exitInterrupted {
			t.Errorf("%q: got %v; want error Canceled and exit code %v", args, err, exitInterrupted)
		}
	}
}

func TestOwnGatewayOfAChatListensAtTheGivenAddress(t *testing.T) {
	for url, want := range map[string]string{
		"ws://127.0.0.1:9000/ws": "127.0.0.1:9000", "ws://localhost:9001/ws": "localhost:9001", "ws://[::1]:9002/ws": "[::1]:9002",
		"ws://example.org:9000/ws": "", "wss://127.0.0.1:9000/ws": "", "ws://127.0.0.1/ws": "", "tower": "",
	} {
		t.Run(url, func(t *testing.T) {
			o := options{url: url}
			address, here := o.listenAddress()
			if here != (want != "") || here && address != want || !here && address != gateway.DefaultListen {
				t.Errorf("%s: got %s, %v; want %q, or the default address if that is empty", url, address, here, want)
			}
		})
	}
}

func TestAnErrorOfTheGatewayDoesNotEndAConversation(t *testing.T) {
	var note bytes.Buffer
	term := &terminal{err: &note, in: newLines(strings.NewReader(""))}
	for _, err := range []error{protocol.ErrUnavailable, protocol.ErrTooLarge, protocol.ErrStorage, protocol.ErrConflict} {
		if !term.printError(err) || !strings.Contains(note.String(), err.Error()) {
			t.Errorf("%v ends it, %q", err, note.String())
		}
	}
	if term.printError(context.Canceled) {
		t.Error("the second Ctrl+C does not leave")
	}
}
