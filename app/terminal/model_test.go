package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/gateway/peer/screen"
	"fairlead/gateway/protocol"
)

// conn is a connection whose frames the test sends and receives.
type conn struct {
	toViewer chan frame
	sent     chan frame
	closed   context.Context
	close    context.CancelFunc
}

func newConn() *conn {
	c := &conn{toViewer: make(chan frame, 100), sent: make(chan frame, 100)}
	c.closed, c.close = context.WithCancel(context.Background())
	return c
}

func (c *conn) Read() (byte, []byte, error) {
	select {
	case f := <-c.toViewer:
		return f.kind, f.body, nil
	case <-c.closed.Done():
		return 0, nil, io.ErrClosedPipe
	}
}

func (c *conn) Write(kind byte, body []byte) error {
	c.sent <- frame{kind, slices.Clone(body)}
	return nil
}

func (c *conn) Close() error { c.close(); return nil }

// send sends a frame with a value, or with bytes, to the viewer.
func (c *conn) send(kind byte, value any) {
	body, ok := value.([]byte)
	if !ok {
		body, _ = json.Marshal(value)
	}
	c.toViewer <- frame{kind, body}
}

// dialer opens the connections of a list, one after the other.
type dialer struct {
	conns  []*conn
	params []protocol.TerminalConnectParams
}

func (d *dialer) dial(_ context.Context, p protocol.TerminalConnectParams) (Conn, protocol.Terminal, error) {
	d.params = append(d.params, p)
	if len(d.params) > len(d.conns) {
		return nil, protocol.Terminal{}, protocol.ErrNotFound.With("the terminal has ended")
	}
	return d.conns[len(d.params)-1], protocol.Terminal{ID: "t1", Node: p.Node}, nil
}

// newTestModel returns a model of a machine with these terminals.
func newTestModel(t *testing.T, d *dialer, list ...protocol.Terminal) *Model {
	t.Helper()
	f := feed.NewOf(pagetest.Gateway{protocol.TerminalList.Name: func(any) (any, error) {
		return protocol.TerminalListResult{Terminals: list}, nil
	}})
	t.Cleanup(f.Close)
	return newModel(f, d.dial, "laptop")
}

func (m *Model) text(i int) (text string) {
	m.Look(func(s *screen.Screen) { text = s.Text(i) })
	return text
}

func TestViewShowsOutputAndSendsInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConn()
		d := &dialer{conns: []*conn{c}}
		m := newTestModel(t, d)
		m.Resize(100, 30)
		go m.View(t.Context(), protocol.TerminalConnectParams{Node: "tower"})
		synctest.Wait()
		if got := d.params[0]; got.Name != "laptop" || got.Open == nil || got.Open.Cols != 100 || got.Open.Rows != 30 {
			t.Errorf("parameters: got %+v, want the name and the size of the window", got)
		}
		c.send(protocol.TerminalStateChanged, protocol.TerminalState{Cols: 100, Rows: 30, Typing: true})
		c.send(protocol.TerminalSnapshot, []byte("\x1bc$ "))
		c.send(protocol.TerminalOutput, []byte("ls\r\nnotes"))
		synctest.Wait()
		if got, want := m.text(0)+"|"+m.text(1), "$ ls|notes"; got != want {
			t.Errorf("screen: got %q, want %q", got, want)
		}
		if s := m.State.Get(); s.Phase != Shown || !s.Now.Typing || s.Terminal.ID != "t1" {
			t.Errorf("state: got %+v, want a shown terminal in which this window types", s)
		}
		m.Type([]byte("x"))
		m.TakeOver()
		m.Answer(true)
		m.Resize(90, 20)
		synctest.Wait()
		var got []string
		for len(c.sent) > 0 {
			f := <-c.sent
			got = append(got, string(f.kind)+string(f.body))
		}
		want := []string{`r{"cols":100,"rows":30}`, "ix", "t", `a{"allow":true}`, `r{"cols":90,"rows":20}`}
		if !slices.Equal(got, want) {
			t.Errorf("frames: got %q, want %q", got, want)
		}
		code := 3
		c.send(protocol.TerminalEnded, protocol.TerminalEnd{ExitCode: &code})
		synctest.Wait()
		if s := m.State.Get(); s.Phase != Ended || endText(s.End) != "The program has ended with exit code 3." {
			t.Errorf("state after the end: got %+v, want exit code 3", s)
		}
	})
}

func TestViewConnectsAgainToTheSameTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dialer{conns: []*conn{newConn(), newConn()}}
		m := newTestModel(t, d)
		go m.View(t.Context(), protocol.TerminalConnectParams{Node: "tower"})
		synctest.Wait()
		d.conns[0].send(protocol.TerminalEnded, protocol.TerminalEnd{Error: "the gateway stops", Lost: true})
		synctest.Wait()
		if s := m.State.Get(); s.Phase != Connecting || s.Problem == "" {
			t.Errorf("state after the connection was lost: got %+v, want connecting with a reason", s)
		}
		time.Sleep(retryAfter)
		synctest.Wait()
		d.conns[1].send(protocol.TerminalStateChanged, protocol.TerminalState{Cols: 80, Rows: 24})
		synctest.Wait()
		if got := d.params[1]; got.ID != "t1" || got.Open != nil {
			t.Errorf("second connection: got %+v, want the same terminal", got)
		}
		if s := m.State.Get(); s.Phase != Shown || s.Problem != "" {
			t.Errorf("state: got %+v, want a shown terminal", s)
		}
		d.conns[1].Close()
		time.Sleep(2 * retryAfter)
		synctest.Wait()
		if s := m.State.Get(); s.Phase != Failed || s.Problem != "The terminal has ended" {
			t.Errorf("state of a terminal that is gone: got %+v, want its end", s)
		}
	})
}

func TestRefusedTerminalSaysWhy(t *testing.T) {
	m := newTestModel(t, &dialer{})
	m.View(t.Context(), protocol.TerminalConnectParams{Node: "tower"})
	if s := m.State.Get(); s.Phase != Failed || s.Problem != "The terminal has ended" {
		t.Errorf("state: got %+v, want the reason", s)
	}
	m.dial = func(context.Context, protocol.TerminalConnectParams) (Conn, protocol.Terminal, error) {
		return nil, protocol.Terminal{}, errors.New("no route")
	}
	m.View(t.Context(), protocol.TerminalConnectParams{Node: "tower"})
	if s := m.State.Get(); s.Phase != Failed || s.Problem != "No route" {
		t.Errorf("state of a new terminal without a connection: got %+v, want the reason", s)
	}
}

func TestLastTerminalIsThePersonsOwn(t *testing.T) {
	m := newTestModel(t, &dialer{},
		protocol.Terminal{ID: "a", Node: "tower"}, protocol.Terminal{ID: "b", Node: "tower"}, protocol.Terminal{ID: "ended", Node: "tower", EndedAt: 1},
		protocol.Terminal{ID: "service", Node: "tower", Service: "wiki"}, protocol.Terminal{ID: "agent", Node: "tower", CommandID: "c"}, protocol.Terminal{ID: "other", Node: "nas"})
	if got := m.Last(t.Context(), "tower"); got != "b" {
		t.Errorf("last terminal: got %q, want %q", got, "b")
	}
	if got := m.Last(t.Context(), "phone"); got != "" {
		t.Errorf("last terminal of a machine without one: got %q, want none", got)
	}
}

func TestStatusSaysWhoTypes(t *testing.T) {
	for want, s := range map[string]State{
		"Connecting…": {},
		"The connection was lost. Connecting again…": {Problem: "The connection was lost"},
		"You type.":                               {Phase: Shown, Now: protocol.TerminalState{Typing: true, Viewers: 1}},
		"You type. 2 other windows watch.":        {Phase: Shown, Now: protocol.TerminalState{Typing: true, Viewers: 3}},
		"“phone” wants to type.":                  {Phase: Shown, Now: protocol.TerminalState{Typing: true, Request: "phone"}},
		"“phone” types, you watch.":               {Phase: Shown, Now: protocol.TerminalState{Typist: "phone"}},
		"You watch, and nobody types.":            {Phase: Shown},
		"You watch: this program takes no input.": {Phase: Shown, Now: protocol.TerminalState{WatchOnly: true}},
		"The machine is offline. The terminal goes on when it is connected again.": {Phase: Shown, Now: protocol.TerminalState{Offline: true, Typing: true}},
		"The program was ended.":     {Phase: Ended},
		"The machine was restarted.": {Phase: Ended, End: protocol.TerminalEnd{Error: "the machine was restarted"}},
	} {
		if got := statusText(s, false); got != want {
			t.Errorf("status of %+v: got %q, want %q", s, got, want)
		}
	}
	if got, want := statusText(State{Phase: Shown}, true), "You watch, and nobody types. The screen is larger than this window."; got != want {
		t.Errorf("status of a large screen: got %q, want %q", got, want)
	}
}
