package terminal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

const (
	// maxViewers limits the viewers of a terminal.
	maxViewers = 32
	// awayLimit is how long a viewer waits for a machine that lost its connection, and retryEvery how
	// often it tries.
	awayLimit  = 2 * time.Minute
	retryEvery = time.Second
	// maxName limits the name of a viewer, in characters.
	maxName = 80
)

// Conn is the connection of a viewer. Write and Close may be called at any time, and Close interrupts
// both others. *wire.Frames implements it.
type Conn interface {
	Read() (kind byte, body []byte, err error)
	Write(kind byte, body []byte) error
	Close() error
}

// Viewer shows a terminal.
type Viewer struct {
	// Name is shown to the other viewers, and By is the principal for the audit log.
	Name, By string
	// Watch: it does not become the typist by itself.
	Watch bool
	// MustAsk: it asks the typist to take over, instead of taking over.
	MustAsk bool
	Conn    Conn
}

// viewer is a viewer of one terminal.
type viewer struct {
	Viewer
	changed wake.Signal   // its state is different
	once    sync.Once     // closes begun
	begun   chan struct{} // closed with the first stream: keys wait for it

	sending sync.Mutex              // one state at a time; taken before all others
	sent    *protocol.TerminalState // the last one; guarded by sending

	writing sync.Mutex // one frame to the machine at a time, and guards the fields below
	stream  net.Conn   // to the machine; nil without a connection
	isTold  bool       // the machine knows that this viewer types
	size    protocol.TerminalSize
	isSized bool // the machine knows the size

	mu    sync.Mutex             // guards shown
	shown protocol.TerminalState // what the machine said, and whether it is away
}

// View shows a terminal until the viewer's connection, the terminal or ctx ends. It owns the
// connection, and waits for a machine that lost its own.
func (t *Terminals) View(ctx context.Context, p protocol.TerminalParams, v Viewer) error {
	defer v.Conn.Close()
	v.Name = format.Line(v.Name, maxName)
	w := &viewer{Viewer: v, changed: wake.New(), begun: make(chan struct{})}
	x, err := t.enter(p, w)
	if err != nil {
		w.end(protocol.TerminalEnd{Error: err.Error()})
		return err
	}
	defer t.leave(x, w)
	ctx, cancel := context.WithCancel(ctx)
	var parts crash.Group
	defer parts.Wait()
	defer v.Conn.Close() // interrupts what reads and writes
	defer cancel()
	parts.Go(func() {
		defer cancel()
		t.receive(ctx, x, w)
	})
	parts.Go(func() { t.sendStates(ctx, x, w) })
	err = t.show(ctx, x, w)
	if errors.Is(err, errEnded) || ctx.Err() != nil {
		return nil
	}
	w.end(protocol.TerminalEnd{Error: err.Error(), Lost: !errors.Is(err, errGone)})
	return err
}

// end sends the last frame.
func (w *viewer) end(e protocol.TerminalEnd) {
	w.Conn.Write(protocol.TerminalEnded, protocol.Encode(e))
}

func (t *Terminals) enter(p protocol.TerminalParams, w *viewer) (*terminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.all[p]
	switch {
	case x == nil:
		return nil, errNone(p)
	case len(x.viewers) >= maxViewers:
		return nil, protocol.ErrTooMany.With(fmt.Sprintf("%d windows show this terminal already: close one", maxViewers))
	}
	x.add(w)
	t.publish()
	return x, nil
}

func (t *Terminals) leave(x *terminal, w *viewer) {
	t.mu.Lock()
	x.remove(w)
	t.mu.Unlock()
	t.publish()
}

var (
	errEnded = errors.New("the terminal has ended")
	errGone  = protocol.ErrNotFound.With("the machine does not have this terminal any more: it was closed, or Fairlead was restarted there")
)

// show passes on what the machine sends. It opens a new stream when one is lost.
func (t *Terminals) show(ctx context.Context, x *terminal, w *viewer) error {
	p := t.params(x)
	tick := time.NewTicker(retryEvery)
	defer tick.Stop()
	for since := time.Now(); ; {
		began := time.Now()
		err := t.showOnce(ctx, x, w)
		if errors.Is(err, errEnded) || ctx.Err() != nil {
			return err
		}
		if time.Since(began) > retryEvery {
			since = time.Now() // it worked for a while
		}
		if _, gone := t.Get(p); gone != nil {
			return errGone
		}
		if time.Since(since) > awayLimit {
			return err
		}
		w.setOffline()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// showOnce passes on what comes from one stream, whose end it returns.
func (t *Terminals) showOnce(ctx context.Context, x *terminal, w *viewer) error {
	p := t.params(x)
	stream, err := t.streams.dial(ctx, p.Node, protocol.TerminalRequest{Do: protocol.TerminalDoView, ID: p.ID})
	if err != nil {
		return err
	}
	defer stream.Close()
	defer crash.WhenDone(ctx, func() { tunnel.Abort(stream) })()
	w.setStream(stream)
	w.once.Do(func() { close(w.begun) })
	defer w.setStream(nil)
	for {
		kind, body, err := tunnel.ReadFrame(stream, protocol.MaxTerminalFrame)
		if err != nil {
			return protocol.ErrUnavailable.With(fmt.Sprintf("%s lost its connection: %v", p.Node, err))
		}
		switch kind {
		case protocol.TerminalStateChanged:
			if w.setShown(body) == nil {
				t.sendState(x, w)
			}
			continue
		case protocol.TerminalSnapshot, protocol.TerminalOutput:
		case protocol.TerminalEnded:
			w.Conn.Write(kind, body)
			return errEnded
		default:
			continue
		}
		if err := w.Conn.Write(kind, body); err != nil {
			return errEnded // the viewer is gone
		}
	}
}

// params returns the name of a terminal, which never changes.
func (t *Terminals) params(x *terminal) protocol.TerminalParams {
	t.mu.Lock()
	defer t.mu.Unlock()
	return protocol.TerminalParams{Node: x.info.Node, ID: x.info.ID}
}

func (w *viewer) setStream(s net.Conn) {
	w.writing.Lock()
	w.stream, w.isTold, w.isSized = s, false, false
	w.writing.Unlock()
	w.changed.Send()
}

// setShown takes the state that the machine sent.
func (w *viewer) setShown(body []byte) error {
	var s protocol.TerminalState
	if err := protocol.Unmarshal(body, &s); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown = protocol.TerminalState{Cols: s.Cols, Rows: s.Rows, Title: format.Line(s.Title, maxText)}
	return nil
}

func (w *viewer) setOffline() {
	w.mu.Lock()
	w.shown.Offline = true
	w.mu.Unlock()
	w.changed.Send()
}

// sendStates sends the state after each change.
func (t *Terminals) sendStates(ctx context.Context, x *terminal, w *viewer) {
	for {
		select {
		case <-w.changed:
			t.sendState(x, w)
		case <-ctx.Done():
			return
		}
	}
}

// sendState sends the viewer the present state, if it is different, and the machine what it must know
// about the typist. Nothing is sent before the machine has told the size.
func (t *Terminals) sendState(x *terminal, w *viewer) {
	w.sending.Lock()
	defer w.sending.Unlock()
	t.mu.Lock()
	s := x.state(w)
	t.mu.Unlock()
	w.mu.Lock()
	s.Cols, s.Rows, s.Title, s.Offline = w.shown.Cols, w.shown.Rows, w.shown.Title, w.shown.Offline
	w.mu.Unlock()
	w.tellMachine(s.Typing)
	if s.Cols == 0 && !s.Offline || w.sent != nil && *w.sent == s {
		return
	}
	w.sent = &s
	w.Conn.Write(protocol.TerminalStateChanged, protocol.Encode(s))
}

// tellMachine tells the machine whether the viewer types, and then its size.
func (w *viewer) tellMachine(types bool) {
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.stream == nil {
		return
	}
	if types != w.isTold {
		w.isTold, w.isSized = types, false
		kind := byte(protocol.TerminalGiveBack)
		if types {
			kind = protocol.TerminalTakeOver
		}
		tunnel.WriteFrame(w.stream, kind, nil)
	}
	if types && !w.isSized && w.size.Cols > 0 {
		w.isSized = true
		tunnel.WriteFrame(w.stream, protocol.TerminalResize, protocol.Encode(w.size))
	}
}

// receive carries out what the viewer does, until its connection ends.
func (t *Terminals) receive(ctx context.Context, x *terminal, w *viewer) {
	for {
		kind, body, err := w.Conn.Read()
		if err != nil {
			return
		}
		switch kind {
		case protocol.TerminalInput:
			select {
			case <-w.begun:
			case <-ctx.Done():
				return
			}
			if t.isTypist(x, w) {
				w.enter(body)
			}
		case protocol.TerminalResize:
			var size protocol.TerminalSize
			if protocol.Unmarshal(body, &size) == nil {
				w.setSize(size)
			}
		case protocol.TerminalTakeOver:
			t.takeOver(ctx, x, w)
		case protocol.TerminalGiveBack:
			t.change(func() { x.giveBack(w) })
		case protocol.TerminalAllow:
			var a protocol.TerminalAnswer
			if protocol.Unmarshal(body, &a) == nil {
				t.change(func() { x.allow(w, a.Allow) })
			}
		}
	}
}

func (t *Terminals) isTypist(x *terminal, w *viewer) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return x.typist == w
}

// change changes who types.
func (t *Terminals) change(f func()) {
	t.mu.Lock()
	f()
	t.mu.Unlock()
	t.publish()
}

// takeOver lets a viewer type. That it types into a command of the agent is recorded.
func (t *Terminals) takeOver(ctx context.Context, x *terminal, w *viewer) {
	t.mu.Lock()
	isNew, info := x.takeOver(w), x.info
	t.mu.Unlock()
	if isNew && info.CommandID != "" {
		t.record(ctx, line(info, w.By, "took over the terminal of a running command"))
	}
	t.publish()
}

// enter passes input on to the machine. While the machine is away, it is lost.
func (w *viewer) enter(p []byte) {
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.stream != nil && len(p) < protocol.MaxTerminalFrame {
		tunnel.WriteFrame(w.stream, protocol.TerminalInput, p)
	}
}

func (w *viewer) setSize(s protocol.TerminalSize) {
	w.writing.Lock()
	w.size, w.isSized = s, s.Cols <= 0 || s.Rows <= 0
	w.writing.Unlock()
	w.changed.Send()
}
