package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/screen"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

// Conn are the frames of a viewer's connection.
type Conn interface {
	Read() (kind byte, body []byte, err error)
	Write(kind byte, body []byte) error
	Close() error
}

// Dial opens the connection of a viewer.
type Dial func(context.Context, protocol.TerminalConnectParams) (Conn, protocol.Terminal, error)

// Phase is how far the view of a terminal is.
type Phase int

// Phases.
const (
	Connecting Phase = iota
	Shown
	Ended
	Failed
)

// State is what the page shows around the screen.
type State struct {
	Phase    Phase
	Terminal protocol.Terminal
	Now      protocol.TerminalState
	End      protocol.TerminalEnd // of the program, once the phase is Ended
	Problem  string               // why the view failed, or why it is connecting again
}

// Terminals are those of all machines.
type Terminals struct {
	List    []protocol.Terminal
	Loaded  bool
	Problem string // reason why loading failed
}

// Of returns the terminals of a machine whose program runs.
func (t Terminals) Of(id protocol.NodeID) []protocol.Terminal {
	return slices.DeleteFunc(slices.Clone(t.List), func(t protocol.Terminal) bool { return t.Node != id || t.EndedAt > 0 })
}

// firstMachine returns the machine whose terminals are shown if none was chosen: this computer if it
// has terminals, or else the first connected one that has; or none.
func firstMachine(machines feed.MachineList) (first protocol.NodeID) {
	for _, n := range machines {
		if n.Online && n.Terminals && (n.Local || first == "") {
			first = n.ID
		}
	}
	return first
}

// Model views one terminal at a time. It is safe for concurrent use.
type Model struct {
	*feed.Loader[Terminals]
	State *feed.Value[State]
	// Changed is sent after the screen has changed.
	Changed wake.Signal

	dial Dial
	name string // of this computer, for other viewers

	mu     sync.Mutex // guards the fields below
	screen *screen.Screen
	size   protocol.TerminalSize // of the window; zero until it is known
	out    chan frame            // to the connection; nil without one
}

// frame is a frame for the gateway.
type frame struct {
	kind byte
	body []byte
}

// Limits of a connection.
const (
	maxQueued  = 1024 // frames that wait to be sent; more are dropped
	maxInput   = 64 << 10
	retryAfter = 2 * time.Second
)

func newModel(f *feed.Feed, dial Dial, name string) *Model {
	return &Model{
		State: feed.NewValue(State{}), Changed: wake.New(), dial: dial, name: name,
		screen: screen.New(80, 24, protocol.TerminalHistory),
		Loader: &feed.Loader[Terminals]{
			Value: feed.NewValue(Terminals{}), Feed: f,
			Fetch: func(ctx context.Context) (func(*Terminals), error) {
				r, err := feed.Call(ctx, f, protocol.TerminalList, protocol.TerminalListParams{})
				return func(t *Terminals) { *t = Terminals{List: r.Terminals, Loaded: true} }, err
			},
			Problem: func(t *Terminals) *string { return &t.Problem },
			Key:     func(v feed.View) string { return fmt.Sprint(v.Changed.Terminals) },
			Facts:   []feed.Fact{f.Changed},
		},
	}
}

// Last returns the terminal that a machine's page shows first: the one that the person opened last,
// or none.
func (m *Model) Last(ctx context.Context, id protocol.NodeID) (last protocol.TerminalID) {
	m.Load(ctx)
	for _, t := range m.Value.Get().Of(id) {
		if t.Service == "" && t.CommandID == "" {
			last = t.ID
		}
	}
	return last
}

// View views a terminal, or a new one, until its program or ctx ends, or it is gone. It connects
// again after the connection was lost. It blocks. One call at a time.
func (m *Model) View(ctx context.Context, p protocol.TerminalConnectParams) {
	m.State.Update(func(s *State) { *s = State{Terminal: protocol.Terminal{Node: p.Node, ID: p.ID}} })
	m.Look(func(s *screen.Screen) { s.Write([]byte("\x1bc")) })
	m.Changed.Send()
	p.Name = m.name
	for ctx.Err() == nil {
		problem, again := m.viewOnce(ctx, &p)
		if ctx.Err() != nil || problem == nil {
			return
		}
		m.State.Update(func(s *State) {
			s.Phase, s.Problem = Failed, feed.Sentence(problem)
			if again {
				s.Phase = Connecting
			}
		})
		if !again {
			return
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
		}
	}
}

// viewOnce views a terminal over one connection. again: another one may succeed.
func (m *Model) viewOnce(ctx context.Context, p *protocol.TerminalConnectParams) (problem error, again bool) {
	if size := m.windowSize(); p.ID == "" && size.Cols > 0 {
		p.Open = &protocol.TerminalOpen{Cols: size.Cols, Rows: size.Rows}
	}
	conn, t, err := m.dial(ctx, *p)
	if err != nil {
		var refused *protocol.Error
		return err, p.ID != "" && (!errors.As(err, &refused) || refused.Retryable)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer crash.WhenDone(ctx, func() { conn.Close() })()
	p.ID, p.Open = t.ID, nil // a new connection goes on with it
	m.State.Update(func(s *State) { s.Terminal = t })
	m.start(ctx, conn)
	defer m.stop()
	for {
		kind, body, err := conn.Read()
		if err != nil {
			return fmt.Errorf("the connection was lost: %w", err), true
		}
		if end := m.apply(kind, body); end != nil {
			if end.Lost {
				return errors.New(end.Error), true
			}
			return nil, false
		}
	}
}

// start sends what the person does, first the size of the window, until ctx ends.
func (m *Model) start(ctx context.Context, conn Conn) {
	out := make(chan frame, maxQueued)
	m.mu.Lock()
	m.out = out
	m.mu.Unlock()
	if size := m.windowSize(); size.Cols > 0 {
		m.send(protocol.TerminalResize, size)
	}
	crash.Go(func() {
		for {
			select {
			case f := <-out:
				if conn.Write(f.kind, f.body) != nil {
					conn.Close()
					return
				}
			case <-ctx.Done():
				return
			}
		}
	})
}

func (m *Model) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.out = nil
}

// apply applies a frame. It returns the end if that was the last frame.
func (m *Model) apply(kind byte, body []byte) (end *protocol.TerminalEnd) {
	switch kind {
	case protocol.TerminalSnapshot, protocol.TerminalOutput:
		m.Look(func(s *screen.Screen) { s.Write(body) })
	case protocol.TerminalStateChanged:
		var now protocol.TerminalState
		if json.Unmarshal(body, &now) != nil {
			return nil
		}
		m.Look(func(s *screen.Screen) { s.Resize(now.Cols, now.Rows) })
		m.State.Update(func(s *State) { s.Phase, s.Now, s.Problem = Shown, now, "" })
	case protocol.TerminalEnded:
		end = &protocol.TerminalEnd{}
		json.Unmarshal(body, end)
		m.State.Update(func(s *State) { s.Phase, s.End = Ended, *end })
	}
	m.Changed.Send()
	return end
}

// Look calls f with the screen, which nothing changes meanwhile.
func (m *Model) Look(f func(*screen.Screen)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m.screen)
}

func (m *Model) windowSize() protocol.TerminalSize {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.size
}

// send queues a frame with a value, or without a body.
func (m *Model) send(kind byte, value any) {
	var body []byte
	if value != nil {
		body, _ = json.Marshal(value)
	}
	m.queue(frame{kind, body})
}

func (m *Model) queue(f frame) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case m.out <- f:
	default: // there is no connection, or it does not take so much
	}
}

// Type sends input for the program.
func (m *Model) Type(p []byte) {
	for part := range slices.Chunk(p, maxInput) {
		m.queue(frame{protocol.TerminalInput, part})
	}
}

// Resize sets the size of the window.
func (m *Model) Resize(cols, rows int) {
	size := protocol.TerminalSize{
		Cols: min(max(cols, protocol.MinTerminalCols), protocol.MaxTerminalCols),
		Rows: min(max(rows, protocol.MinTerminalRows), protocol.MaxTerminalRows),
	}
	m.mu.Lock()
	same := m.size == size
	m.size = size
	m.mu.Unlock()
	if !same {
		m.send(protocol.TerminalResize, size)
	}
}

// TakeOver asks to type.
func (m *Model) TakeOver() { m.send(protocol.TerminalTakeOver, nil) }

// GiveBack ends typing.
func (m *Model) GiveBack() { m.send(protocol.TerminalGiveBack, nil) }

// Answer answers another viewer's request to type.
func (m *Model) Answer(allow bool) {
	m.send(protocol.TerminalAllow, protocol.TerminalAnswer{Allow: allow})
}

// Close ends the program of a terminal. It blocks.
func (m *Model) Close(ctx context.Context, t protocol.Terminal) error {
	return feed.Send(ctx, m.Feed, protocol.TerminalClose, protocol.TerminalParams{Node: t.Node, ID: t.ID})
}
