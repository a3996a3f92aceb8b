package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/tool"
	"fairlead/node/workspace"
)

func TestNewRefusesWhatCannotWork(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"no id":              {Workspace: dir, URL: "ws://x/ws"},
		"bad id":             {ID: "a__b", Workspace: dir, URL: "ws://x/ws"},
		"nowhere to connect": {ID: "a", Workspace: dir},
		"no workspace":       {ID: "a", Workspace: filepath.Join(dir, "none"), URL: "ws://x/ws"},
		"workspace a file":   {ID: "a", Workspace: file, URL: "ws://x/ws"},
		"unknown access":     {ID: "a", Workspace: dir, URL: "ws://x/ws", Confine: Confinement{Access: "moon"}},
		"log folder a file":  {ID: "a", Workspace: dir, URL: "ws://x/ws", LogDir: file},
	} {
		if _, err := New(o); err == nil || err.Error() == "" {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for _, access := range []workspace.Access{"", workspace.InWorkspace, workspace.WholeDisk} {
		n, err := New(Options{ID: "a", Workspace: dir, URL: "ws://x/ws", Confine: Confinement{Access: access}})
		if err != nil {
			t.Fatal(err)
		}
		if n.ws.WholeDisk() != (access == workspace.WholeDisk) {
			t.Errorf("access %q: whole disk %v", access, n.ws.WholeDisk())
		}
		n.close()
	}
}

// withTools is a node that offers a few odd tools and is not connected.
func withTools(t *testing.T) *Node {
	t.Helper()
	n, err := New(Options{ID: "a", Workspace: t.TempDir(), URL: "ws://x/ws", LogDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.close)
	define := func(name string, fn func(context.Context, struct{}) (any, error)) tool.Tool {
		return tool.Define(name, "", tool.Traits{Caps: []string{protocol.CapRead}}, fn)
	}
	n.offer([]tool.Tool{
		define("Crash", func(context.Context, struct{}) (any, error) { panic("secret argument") }),
		define("Silent", func(context.Context, struct{}) (any, error) { return nil, errors.New("") }),
		define("Nothing", func(context.Context, struct{}) (any, error) { return nil, nil }),
		define("Huge", func(context.Context, struct{}) (any, error) { return strings.Repeat("x", maxResult), nil }),
		define("Wait", func(ctx context.Context, _ struct{}) (any, error) { <-ctx.Done(); return nil, ctx.Err() }),
		tool.WithPreview(define("Bad", nil), func(context.Context, struct{}) (protocol.CallPreview, error) { panic("secret preview") }),
	})
	return n
}

func TestEveryCallEndsInAResultOrWords(t *testing.T) {
	n := withTools(t)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range []struct {
		tool    string
		ctx     context.Context
		preview bool
		want    string
	}{
		{"Crash", t.Context(), false, "The tool crashed"},
		{"Bad", t.Context(), true, "The tool crashed"},
		{"Silent", t.Context(), false, "did not say why"},
		{"Huge", t.Context(), false, "too large"},
		{"Wait", stopped, false, "cancelled"},
		{"", t.Context(), false, "Tool not found: "},
	} {
		r := n.call(c.ctx, protocol.ToolInvoke{CallID: "1", Tool: c.tool, Preview: c.preview})
		if !strings.Contains(r.Error, c.want) || r.Result != nil || strings.Contains(r.Error, "secret") {
			t.Errorf("%s: %q", c.tool, r.Error)
		}
	}
	if r := n.call(t.Context(), protocol.ToolInvoke{CallID: "1", Tool: "Nothing"}); string(r.Result) != "null" || r.Error != "" {
		t.Errorf("Nothing: %+v", r)
	}
	if r := n.call(t.Context(), protocol.ToolInvoke{CallID: "1", Tool: "Nothing", Preview: true}); string(r.Result) != "null" || r.Error != "" {
		t.Errorf("preview of Nothing: %+v", r)
	}
	log, err := os.ReadFile(filepath.Join(n.opts.LogDir, logName))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(log, []byte("secret")) || !bytes.Contains(log, []byte("Tool crashed")) {
		t.Errorf("log:\n%s", log)
	}
}

// post is an outbox with a deliverer, in a bubble.
type post struct {
	*outbox
	mu         sync.Mutex // guards what follows
	sent, lost []string
}

func deliver(t *testing.T) *post {
	p := &post{outbox: newOutbox()}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.deliver(ctx, func(c protocol.CallID, _ error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.lost = append(p.lost, string(c))
		})
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	return p
}

// add puts an item that fails with errs, one after the other, before it is taken.
func (p *post) add(l lane, name string, errs ...error) {
	p.put(item{lane: l, call: protocol.CallID(name), send: func(context.Context) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.sent = append(p.sent, name)
		if len(errs) == 0 {
			return nil
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}})
}

func (p *post) soFar() (sent, lost string) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.sent, ""), strings.Join(p.lost, "")
}

func TestOutboxSendsALaneInOrderUntilConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		p.add("one", "a", protocol.ErrUnavailable, context.DeadlineExceeded, protocol.ErrStorage)
		p.add("one", "b", protocol.ErrNotFound)
		p.add("one", "c", fmt.Errorf("report: %w", protocol.ErrForbidden))
		p.add("one", "d")
		if sent, _ := p.soFar(); sent != "a" {
			t.Errorf("sent %s", sent)
		}
		began := time.Now()
		p.nudge() // a reconnect does not wait
		if sent, _ := p.soFar(); sent != "aa" || time.Since(began) != 0 {
			t.Errorf("after a nudge: %s", sent)
		}
		time.Sleep(time.Hour)
		if all, refused := p.soFar(); all != "aaaabcd" || refused != "bc" {
			t.Errorf("sent %s, lost %s", all, refused)
		}
	})
}

func TestOutboxKnowsWhatItHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		p.add(resultLane("a"), "a", protocol.ErrUnavailable)
		p.soFar()
		if !p.holds("a") || p.holds("x") {
			t.Error("what waits is not known")
		}
		time.Sleep(retryMin)
		if p.soFar(); p.holds("a") || len(p.lanes) != 0 {
			t.Error("a confirmed item is kept")
		}
	})
}

func TestOutboxLetsNoItemHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		stuck := make(chan struct{})
		for i := range maxSending - 1 {
			p.put(item{lane: lane(fmt.Sprint(i)), send: func(ctx context.Context) error { <-stuck; return nil }})
		}
		p.add("failing", "f", protocol.ErrUnavailable)
		for range 100 {
			p.add(lane(protocol.NewID()), "x")
		}
		if sent, _ := p.soFar(); sent != "f"+strings.Repeat("x", 100) {
			t.Errorf("sent %s", sent)
		}
		p.put(item{lane: "last", send: func(ctx context.Context) error { <-stuck; return nil }})
		p.add("waits", "w")
		if sent, _ := p.soFar(); strings.Contains(sent, "w") {
			t.Error("more are under way than may be")
		}
		close(stuck)
		if sent, _ := p.soFar(); !strings.HasSuffix(sent, "w") {
			t.Errorf("sent %s", sent)
		}
	})
}

func TestOutboxGivesUpWhatIsRefusedAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := deliver(t)
		many := func(err error) (errs []error) {
			for range 100 {
				errs = append(errs, err)
			}
			return errs
		}
		p.add("i", "i", many(protocol.ErrInternal)...)
		p.add("i", "next")
		p.add("s", "s", many(fmt.Errorf("store: %w", protocol.ErrStorage))...)
		p.add("u", "u", many(protocol.ErrUnavailable)...)
		p.add("n", "n", many(errors.New("connection lost"))...)
		time.Sleep(24 * time.Hour)
		sent, lost := p.soFar()
		for name, want := range map[string]int{"i": maxRefusals, "s": maxRefusals, "u": 101, "next": 1} {
			if n := strings.Count(strings.ReplaceAll(sent, "next", "N"), strings.ReplaceAll(name, "next", "N")); n != want {
				t.Errorf("%s was sent %d times, want %d", name, n, want)
			}
		}
		if lost != "is" && lost != "si" {
			t.Errorf("lost %s", lost)
		}
	})
}

func TestPrettyName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "os-release")
	for text, want := range map[string]string{
		"NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n": "Debian GNU/Linux 12 (bookworm)",
		"PRETTY_NAME='Alpine'\n": "Alpine",
		"PRETTY_NAME=Void":       "Void",
		"NAME=x\n":               "",
		"":                       "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := prettyName(path); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := prettyName(path + ".none"); got != "" {
		t.Errorf("no file: %q", got)
	}
}

func TestBackgroundCommandsAreReported(t *testing.T) {
	g := start(t, nil)
	l, _ := g.accept()
	l.invoke("bg", "Bash", `{"command":"echo hi","background":true}`)
	var events []protocol.NodeExecEvent
	var id string
	for len(events) < 2 || id == "" {
		req := receive(t, l.got, "a report")
		l.answer(req, protocol.Ack{OK: true})
		switch req.Method {
		case protocol.ReturnResult.Name:
			id = decode[struct{ SessionID string }](t, decode[protocol.ToolResultParams](t, req.Params).Result).SessionID
		case protocol.ReportExec.Name:
			events = append(events, decode[protocol.NodeExecEvent](t, req.Params))
		}
	}
	if events[0].Event != "started" || events[1].Event != "finished" || events[1].OutputTail != "hi\n" || events[0].SessionID != id || events[0].EventID == events[1].EventID {
		raw, _ := json.Marshal(events)
		t.Errorf("session %s: %s", id, raw)
	}
}
