//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"

	"fairlead/gateway"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node/setup"
)

// terminalWithInput returns a terminal with input that no program has read yet. It is in raw mode
// already, so that the system does not turn it into a signal.
func terminalWithInput(t *testing.T, keys string) *lines {
	t.Helper()
	keyboard, screen, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close(); screen.Close() })
	if _, err := term.MakeRaw(int(screen.Fd())); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(keyboard, keys); err != nil {
		t.Fatal(err)
	}
	return newLines(screen)
}

func TestCtrlCAndCtrlDAreDistinguished(t *testing.T) {
	for keys, interrupt := range map[string]bool{"\x03": true, "half a line\x03": true, "\x04": false} {
		term := &terminal{in: terminalWithInput(t, keys)}
		_, err := term.readMessage(t.Context(), "? ")
		if !errors.Is(err, io.EOF) || errors.Is(err, errInterrupt) != interrupt {
			t.Errorf("%q: got %v; want error EOF, and errInterrupt in it %v", keys, err, interrupt)
		}
	}
}

// TestCtrlCInAQuestionStopsTheRun: Ctrl+C denied the call and the agent continued. It must stop the
// run at every point of the question.
func TestCtrlCInAQuestionStopsTheRun(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	o := &options{home: home}
	own := setup.Default("box", work, gateway.Version)
	l := localOptions{home: home, listen: porttest.Free(t), node: &own, log: slog.New(slog.DiscardHandler)}
	var wg sync.WaitGroup
	err := l.run(ctx, func(g *gateway.Gateway) {
		wg.Go(func() {
			defer cancel()
			c, err := o.connectWith(ctx, g.URL(), client.Options{URL: g.URL(), Dial: g.Dial})
			if err != nil {
				t.Error(err)
				return
			}
			defer c.close()
			if r, err := client.Call(ctx, c.Client, protocol.NodesList, protocol.Empty{}); err != nil || len(r.Nodes) != 1 || !r.Nodes[0].Online {
				t.Errorf("machines once the gateway is ready: got %+v, %v, want this one online", r.Nodes, err)
			}
			for _, keys := range []string{"\x03", "r\n\x03", "e\n\x03", "w\n\x03", "x\nmore\x03"} {
				var note bytes.Buffer
				ch := &chat{term: &terminal{out: io.Discard, err: &note, in: terminalWithInput(t, keys)}, session: protocol.MainSession}
				err := ch.run(ctx, c, "run touch made")
				var exit *exitError
				if !errors.As(err, &exit) || exit.code != exitInterrupted || !bytes.Contains(note.Bytes(), []byte("Stopping…")) {
					t.Errorf(`%q: got %v, %s; want an error of type *exitError, exit.code %v and "Stopping…" in note.Bytes`, keys, err, note.String(), exitInterrupted)
				}
				open, err := client.Call(ctx, c.Client, protocol.QuestionList, protocol.Empty{})
				if err != nil || len(open.Questions) != 0 {
					t.Errorf("%q: got %v %+v; want no questions and no error", keys, err, open.Questions)
				}
			}
		})
	})
	wg.Wait()
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(work, "made")); err == nil {
		t.Error("it ran")
	}
}

func TestQuestionsOfServersAreAnsweredInTheChat(t *testing.T) {
	withAskingServer(t, func(ctx context.Context, c *connection) {
		for keys, want := range map[string]string{"Anna\r": "accept Anna", "\r\rBob\r": "accept Bob", "\x04": "decline"} {
			var note bytes.Buffer
			ch := &chat{c: c, term: &terminal{in: terminalWithInput(t, keys), out: io.Discard, err: &note}}
			result := make(chan string, 1)
			go func() { result <- callAsk(ctx, t, c) }()
			q := opened(ctx, t, c)
			setEntry(&ch.term.calls, q.CallID, shownCall{})
			if err := ch.askServerQuestion(ctx, "run", q); err != nil {
				t.Errorf("%q: %v", keys, err)
			}
			if got := <-result; !strings.Contains(got, want) || !strings.Contains(note.String(), "“door” asks: Who is it?") {
				t.Errorf("%q: the call returned %s, want %s; the terminal has %q", keys, got, want, note.String())
			}
		}
	})
}
