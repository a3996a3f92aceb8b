// Package tunnel opens streams to what machines can reach: [Tunnels.Dial]. Each machine has at most one
// tunnel, a connection of its own beside that for calls. The machine opens it when the gateway asks
// for it, and decides itself what it dials. A tunnel without streams is closed after some minutes.
package tunnel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/protocol"
)

// Reasons for the failure of [Tunnels.Dial]; compare with errors.Is. The text says more, for people.
var (
	// ErrOffline: the machine is not connected, or lost its connection before it answered.
	ErrOffline = protocol.ErrUnavailable
	// ErrUnreachable: the target does not answer.
	ErrUnreachable = tunnel.ErrUnreachable
	// ErrDenied: the machine does not allow the target.
	ErrDenied = tunnel.ErrDenied
	// ErrUnsupported: the machine's program knows no tunnels, or not this kind of stream.
	ErrUnsupported = tunnel.ErrUnsupported
	// ErrExhausted: the machine has too many open streams.
	ErrExhausted = tunnel.ErrExhausted
)

const (
	// openLimit is the time that a machine has to open its tunnel.
	openLimit = 15 * time.Second
	// idleLimit is the time after which a tunnel without streams is closed, checked each idleCheck.
	idleLimit = 5 * time.Minute
	idleCheck = time.Minute
)

// Machines are the machines, connected or not.
type Machines interface {
	Node(id protocol.NodeID) (protocol.NodeInfo, bool)
	Link(id protocol.NodeID) (nodes.Link, nodes.Contact, bool)
}

// Tunnels has the tunnels of all machines. It is safe for concurrent use.
type Tunnels struct {
	machines Machines
	bus      *event.Bus

	mu   sync.Mutex // guards open
	open map[protocol.NodeID]*opening
}

// opening is a tunnel, from the request for it to its end.
type opening struct {
	ticket  string
	session *tunnel.Session // set when ready is closed; nil if the machine did not open it
	err     error           // why not
	ready   chan struct{}
	once    sync.Once // closes ready
}

// New returns no tunnels yet.
func New(m Machines, bus *event.Bus) *Tunnels {
	return &Tunnels{machines: m, bus: bus, open: make(map[protocol.NodeID]*opening)}
}

// Dial opens a stream to a machine, and first the machine's tunnel if that is not open. It waits
// for the machine's answer, which may need its person. The connection has CloseWrite.
func (t *Tunnels) Dial(ctx context.Context, node protocol.NodeID, h protocol.StreamHeader) (net.Conn, error) {
	for attempt := 1; ; attempt++ {
		o := t.opening(ctx, node)
		select {
		case <-o.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if o.err != nil {
			return nil, o.err
		}
		conn, err := o.session.Open(ctx, h)
		if _, isAnswer := errors.AsType[*tunnel.Error](err); err == nil || isAnswer || ctx.Err() != nil {
			return conn, err
		}
		t.remove(node, o)
		if attempt == 2 { // the first session may have ended in the moment in which it was chosen
			return nil, ErrOffline.With(fmt.Sprintf("%s lost its connection: %v", node, err))
		}
	}
}

// opening returns the machine's tunnel, which may not be open yet.
func (t *Tunnels) opening(ctx context.Context, node protocol.NodeID) *opening {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.open[node]; o != nil {
		return o
	}
	o := &opening{ticket: protocol.NewID(), ready: make(chan struct{})}
	t.open[node] = o
	crash.Go(func() { t.request(context.WithoutCancel(ctx), node, o) })
	return o
}

// request asks a machine to open its tunnel, and waits for it.
func (t *Tunnels) request(ctx context.Context, node protocol.NodeID, o *opening) {
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	err := t.ask(ctx, node, o.ticket)
	if err == nil {
		select {
		case <-o.ready:
			return
		case <-ctx.Done():
			err = ErrOffline.With(fmt.Sprintf("%s did not open its tunnel within %s", node, openLimit))
		}
	}
	t.remove(node, o)
	o.finish(nil, err)
}

func (t *Tunnels) ask(ctx context.Context, node protocol.NodeID, ticket string) error {
	link, contact, ok := t.machines.Link(node)
	switch {
	case !ok:
		return ErrOffline.With(fmt.Sprintf("%s is offline", node))
	case !slices.Contains(contact.Extensions, protocol.ExtTunnel):
		return ErrUnsupported.With(fmt.Sprintf("the program on %s is too old for this: update it", node))
	}
	select {
	case <-contact.Listens:
	case <-ctx.Done():
	}
	if err := link.SendEvent(ctx, protocol.EventTunnelOpen, protocol.TunnelOpen{Ticket: ticket}); err != nil {
		return ErrOffline.With(fmt.Sprintf("%s is offline: %v", node, err))
	}
	return nil
}

// finish ends the wait for a tunnel. Only the first call has an effect; it returns true.
func (o *opening) finish(s *tunnel.Session, err error) (first bool) {
	o.once.Do(func() {
		o.session, o.err, first = s, err, true
		close(o.ready)
	})
	return first
}

func (t *Tunnels) remove(node protocol.NodeID, o *opening) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[node] == o {
		delete(t.open, node)
	}
}

// Claim checks the ticket with which a machine opens its tunnel. run serves the tunnel and returns at
// its end; it owns the connection.
func (t *Tunnels) Claim(node protocol.NodeID, ticket string) (run func(net.Conn), err error) {
	t.mu.Lock()
	o := t.open[node]
	t.mu.Unlock()
	if o == nil || ticket == "" || o.ticket != ticket {
		return nil, protocol.ErrConflict.With("the gateway did not ask for this tunnel, or does not wait for it any more")
	}
	return func(conn net.Conn) { t.run(node, o, conn) }, nil
}

func (t *Tunnels) run(node protocol.NodeID, o *opening, conn net.Conn) {
	s := tunnel.NewOpener(conn)
	defer s.Drop()
	if !o.finish(s, nil) {
		return // it came too late, or a second time
	}
	defer t.remove(node, o)
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	for used := time.Now(); time.Since(used) < idleLimit; {
		select {
		case <-s.Done():
			return
		case <-tick.C:
			if s.Streams() > 0 {
				used = time.Now()
			}
		}
	}
}

// Run ends the tunnels of machines that are forgotten, until ctx ends.
func (t *Tunnels) Run(ctx context.Context) {
	sub := t.bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNodeForgotten })
	defer sub.Close()
	for {
		if _, err := sub.Next(ctx); err != nil {
			return
		}
		t.mu.Lock()
		for node, o := range t.open {
			if _, known := t.machines.Node(node); !known {
				delete(t.open, node)
				if !o.finish(nil, ErrOffline.With(fmt.Sprintf("%s was removed", node))) && o.session != nil {
					crash.Go(o.session.Drop)
				}
			}
		}
		t.mu.Unlock()
	}
}
