// Package terminal has the terminals of a machine: processes with a screen that people see and type
// in, over streams of the machine's tunnel (docs/protocol.md#terminals). A terminal lives as long as
// its program, whoever looks, and for some minutes after that.
package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/node/shell"
)

const (
	// maxTerminals limits the terminals of a machine, with those that have ended.
	maxTerminals = 256
	// retention is how long a terminal stays after the end of its program.
	retention = 10 * time.Minute
	// requestLimit is the time in which the request of a stream must arrive, and lastLimit that in
	// which the gateway must have taken the last frame.
	requestLimit = 10 * time.Second
	lastLimit    = 10 * time.Second
	// reportLimit is how long a report may wait for its confirmation.
	reportLimit = 5 * time.Second
	// reportEvery is the least time between two reports to the gateway.
	reportEvery = 300 * time.Millisecond
)

// Commands start what runs in terminals, and have the agent's commands that people can watch.
// *shell.Jobs implements it.
type Commands interface {
	StartTerminal(o protocol.TerminalOpen) (*shell.TerminalProcess, error)
	Shared() []shell.Shared
}

// Options configure the terminals. All fields are required.
type Options struct {
	Commands Commands
	Log      *slog.Logger
}

// Terminals are the terminals of a machine. They are safe for concurrent use.
type Terminals struct {
	o       Options
	changes wake.Signal
	work    *crash.Workers

	mu  sync.Mutex // guards all
	all map[protocol.TerminalID]*display
}

// New returns no terminals yet. The caller closes them.
func New(o Options) *Terminals {
	return &Terminals{o: o, changes: wake.New(), work: crash.NewWorkers(), all: make(map[protocol.TerminalID]*display)}
}

// Close ends all programs and waits for that.
func (t *Terminals) Close() {
	t.work.Stop(nil)
	t.mu.Lock()
	for _, d := range t.all {
		d.program.Close()
	}
	t.mu.Unlock()
	t.work.Close(nil)
}

// Changed says that the list may be different, also that of the agent's commands. It does not block.
func (t *Terminals) Changed() { t.changes.Send() }

// Report passes the list on after changes, not more often than each reportEvery, until ctx ends. send
// passes it to the gateway.
func (t *Terminals) Report(ctx context.Context, send func(context.Context, protocol.TerminalReport) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.changes:
		}
		t.reportOnce(ctx, send)
		select {
		case <-ctx.Done():
		case <-time.After(reportEvery):
		}
	}
}

// reportOnce reports the list. A lost report is not sent again, because there is one after each
// reconnection. An older gateway does not know it.
func (t *Terminals) reportOnce(ctx context.Context, send func(context.Context, protocol.TerminalReport) error) {
	ctx, cancel := context.WithTimeout(ctx, reportLimit)
	defer cancel()
	err := send(ctx, protocol.TerminalReport{Terminals: t.List()})
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		t.o.Log.Info("Reporting the terminals failed", "err", err)
	}
}

// List lists the terminals, and the running commands that can be watched, oldest first.
func (t *Terminals) List() []protocol.Terminal {
	list := []protocol.Terminal{}
	for _, s := range t.o.Commands.Shared() {
		if t.find(s.Info().ID) == nil {
			list = append(list, s.Info())
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.all {
		list = append(list, d.now())
	}
	slices.SortFunc(list, func(a, b protocol.Terminal) int {
		return cmp.Or(cmp.Compare(a.StartedAt, b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func (t *Terminals) find(id protocol.TerminalID) *display {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[id]
}

// Dial returns the machine's side of a stream of the kind pty. It never fails: the request comes in
// the stream, and so does the reason why it is refused.
func (t *Terminals) Dial() (net.Conn, error) {
	near, far := net.Pipe()
	if !t.work.Start(func() { t.serve(far) }) {
		return nil, tunnel.ErrUnreachable.With("this machine stops")
	}
	return near, nil
}

// serve serves one stream.
func (t *Terminals) serve(conn net.Conn) {
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.work.Context())
	defer cancel()
	defer crash.WhenDone(ctx, func() { conn.Close() })()
	conn.SetReadDeadline(time.Now().Add(requestLimit))
	kind, body, err := tunnel.ReadFrame(conn, protocol.MaxTerminalFrame)
	var r protocol.TerminalRequest
	if err == nil && kind != protocol.TerminalRequested {
		err = errors.New("the stream begins without a request")
	}
	if err == nil {
		err = protocol.Unmarshal(body, &r)
	}
	conn.SetReadDeadline(time.Time{})
	if err == nil {
		err = t.answer(ctx, conn, r)
	}
	if err == nil {
		return
	}
	t.o.Log.Info("Terminal request failed", "do", r.Do, "terminal", r.ID, "err", err)
	writeLast(conn, protocol.TerminalEnd{Error: err.Error()})
}

// writeLast writes the last frame and waits until the gateway has closed the stream: closing it
// earlier could take the frame with it.
func writeLast(conn net.Conn, e protocol.TerminalEnd) {
	conn.SetDeadline(time.Now().Add(lastLimit))
	if tunnel.WriteFrame(conn, protocol.TerminalEnded, protocol.Encode(e)) == nil {
		io.Copy(io.Discard, conn)
	}
}

// answer carries out a request. After an error, the end of the stream is not sent yet.
func (t *Terminals) answer(ctx context.Context, conn net.Conn, r protocol.TerminalRequest) error {
	if r.ID == "" || len(r.ID) > 100 {
		return errors.New("the request has no valid ID")
	}
	if r.Do == protocol.TerminalDoOpen {
		if err := t.open(r); err != nil {
			return err
		}
		writeLast(conn, protocol.TerminalEnd{})
		return nil
	}
	d, err := t.findOrWatch(r.ID)
	if err != nil {
		return err
	}
	switch r.Do {
	case protocol.TerminalDoView:
		return view(ctx, conn, d)
	case protocol.TerminalDoClose:
		if d.now().CommandID != "" {
			return errors.New("this is a command of the agent: end it in its chat")
		}
		t.close(ctx, r.ID, d)
		writeLast(conn, protocol.TerminalEnd{})
		return nil
	}
	return fmt.Errorf("unknown request %.40q", r.Do)
}

// open starts the program of a new terminal.
func (t *Terminals) open(r protocol.TerminalRequest) error {
	var o protocol.TerminalOpen
	if r.Open != nil {
		o = *r.Open
	}
	o.Cols, o.Rows = fit(cmp.Or(o.Cols, 80), cmp.Or(o.Rows, 24))
	t.mu.Lock()
	n, isUsed := len(t.all), t.all[r.ID] != nil
	t.mu.Unlock()
	switch {
	case isUsed:
		return errors.New("a terminal has this ID already")
	case n >= maxTerminals:
		return fmt.Errorf("this machine has %d terminals already: close one", n)
	}
	p, err := t.o.Commands.StartTerminal(o)
	if err != nil {
		return err
	}
	d := newDisplay(protocol.Terminal{
		ID: r.ID, Command: o.Command, Username: p.Username, Workdir: p.Workdir, Cols: o.Cols, Rows: o.Rows,
		StartedAt: time.Now().UnixMilli(), By: r.By, Service: r.Service,
	}, &process{p}, t.Changed)
	t.add(r.ID, d)
	if !t.work.Start(func() { run(p, d); t.expire(r.ID, d) }) {
		d.program.Close()
		return errors.New("this machine stops")
	}
	t.o.Log.Info("Terminal opened", "terminal", r.ID, "by", r.By)
	return nil
}

func (t *Terminals) add(id protocol.TerminalID, d *display) {
	t.mu.Lock()
	t.all[id] = d
	t.mu.Unlock()
	t.Changed()
}

// expire removes a terminal that has ended, after a while.
func (t *Terminals) expire(id protocol.TerminalID, d *display) {
	t.o.Log.Info("Terminal ended", "terminal", id)
	crash.AfterFunc(retention, func() { t.remove(id, d) })
}

func (t *Terminals) remove(id protocol.TerminalID, d *display) {
	t.mu.Lock()
	if t.all[id] == d {
		delete(t.all, id)
	}
	t.mu.Unlock()
	t.Changed()
}

// close ends the program of a terminal, waits for that, and removes it.
func (t *Terminals) close(ctx context.Context, id protocol.TerminalID, d *display) {
	d.program.Close()
	select {
	case <-d.over:
	case <-ctx.Done():
	}
	t.remove(id, d)
}

// findOrWatch returns a terminal. A command of the agent becomes one when somebody watches it first.
func (t *Terminals) findOrWatch(id protocol.TerminalID) (*display, error) {
	if d := t.find(id); d != nil {
		return d, nil
	}
	list := t.o.Commands.Shared()
	i := slices.IndexFunc(list, func(s shell.Shared) bool { return s.Info().ID == id })
	if i < 0 {
		return nil, errors.New("this machine has no such terminal: it was closed, ended a while ago, or Fairlead was restarted there")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.all[id]; d != nil {
		return d, nil
	}
	s := list[i]
	d := newDisplay(s.Info(), command{s}, t.Changed)
	t.all[id] = d
	s.Watch(&lines{display: d, isRaw: s.IsTerminal()})
	if !t.work.Start(func() {
		select {
		case <-s.Done():
			d.end(s.End())
		case <-t.work.Context().Done():
			d.end(protocol.TerminalEnd{Error: "Fairlead stopped on this machine"})
		}
		t.expire(id, d)
	}) {
		return nil, errors.New("this machine stops")
	}
	return d, nil
}
