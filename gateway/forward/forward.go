// Package forward has the open forwards: local ports of clients that lead to ports of machines. A
// forward lives as long as the connection of its client. The client opens a stream for each connection
// to its local port, and the gateway joins it with a stream to the machine.
package forward

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	tunnels "fairlead/gateway/tunnel"
)

const (
	// maxForwards limits the open forwards of all clients.
	maxForwards = 256
	// maxListen is the longest local address, in bytes.
	maxListen = 100
	// publishEvery is the interval of changes in the feed while a forward is used.
	publishEvery = time.Second
)

// Machines are the machines, connected or not.
type Machines interface {
	Node(id protocol.NodeID) (protocol.NodeInfo, bool)
}

// Dialer opens streams to machines. [tunnels.Tunnels] implements it.
type Dialer interface {
	Dial(ctx context.Context, node protocol.NodeID, h protocol.StreamHeader) (net.Conn, error)
}

// AuditLog is the log of security-relevant events.
type AuditLog interface {
	Append(ctx context.Context, lines ...protocol.AuditEntry) error
}

// Options configure the forwards. All fields are required.
type Options struct {
	Machines Machines
	Dialer   Dialer
	Audit    AuditLog
	Bus      *event.Bus
}

// Forwards has the open forwards. It is safe for concurrent use.
type Forwards struct {
	o Options

	mu   sync.Mutex // guards open
	open map[protocol.ForwardID]*forward
}

// forward is an open forward.
type forward struct {
	info   protocol.Forward // what does not change
	ending context.Context  // ends when somebody other than the client closes it
	end    context.CancelFunc

	closedBy                     atomic.Pointer[string] // the principal that closed it; nil: its client
	connections, total           atomic.Int64
	sent, received, lastUsedNano atomic.Int64
}

// New returns no forwards yet.
func New(o Options) *Forwards {
	return &Forwards{o: o, open: make(map[protocol.ForwardID]*forward)}
}

// Open checks a forward that a client at the host from wants; from is empty for this process. run
// serves it and returns at its end; it owns the connection. The caller calls
// run in any case. A forward of an app needs the scope net.forward.
func (f *Forwards) Open(ctx context.Context, who auth.Principal, from string, p protocol.ForwardConnectParams) (info protocol.Forward, run func(net.Conn), err error) {
	if err := f.check(who, p); err != nil {
		return info, nil, err
	}
	w := &forward{}
	w.ending, w.end = context.WithCancel(context.WithoutCancel(ctx))
	w.info = protocol.Forward{
		ID: protocol.ForwardID(protocol.NewID()), Node: p.Node, Target: p.Target, Listen: p.Listen,
		By: who.String(), App: who.App, Device: who.Device, Client: p.Client.ID, Address: from, Since: time.Now().UnixMilli(),
	}
	f.mu.Lock()
	full := len(f.open) >= maxForwards
	if !full {
		f.open[w.info.ID] = w
	}
	f.mu.Unlock()
	if full {
		return info, nil, protocol.ErrTooMany.With(fmt.Sprintf("%d forwards are open already: close one", maxForwards))
	}
	if err := f.o.Audit.Append(ctx, line(w.info, w.info.By, "opened a forward to "+address(w.info))); err != nil {
		f.remove(w)
		return info, nil, err
	}
	f.publish()
	return w.info, func(conn net.Conn) { f.run(context.WithoutCancel(ctx), w, conn) }, nil
}

func (f *Forwards) check(who auth.Principal, p protocol.ForwardConnectParams) error {
	switch who.Kind {
	case auth.KindOwner:
		if !who.Has(protocol.ScopeInvoke) {
			return protocol.ErrForbidden.With("a forward needs the right to use machines directly, which this device does not have")
		}
	case auth.KindApp:
		if err := tool.CheckAccess(who, p.Node, protocol.ScopeForward); err != nil {
			return protocol.ErrForbidden.With(err.Error())
		}
	default:
		return protocol.ErrForbidden.With("only the owner and connected apps may open forwards")
	}
	if _, _, err := protocol.SplitTarget(p.Target); err != nil {
		return err
	}
	if len(p.Listen) > maxListen || strings.ContainsFunc(p.Listen, unicode.IsControl) {
		return protocol.ErrBadRequest.With(fmt.Sprintf("listen may have %d bytes and no control characters", maxListen))
	}
	node, ok := f.o.Machines.Node(p.Node)
	switch {
	case !ok:
		return protocol.ErrNotFound.With(fmt.Sprintf("No machine is called %.60q", p.Node))
	case !node.Online:
		return protocol.ErrUnavailable.With(fmt.Sprintf("%s is offline", p.Node))
	}
	return nil
}

// run serves a forward until its client, or somebody else, closes it.
func (f *Forwards) run(ctx context.Context, w *forward, conn net.Conn) {
	session := tunnel.NewAcceptor(conn)
	stop := crash.WhenDone(w.ending, session.Close)
	watching, unwatch := context.WithCancel(ctx)
	var watcher crash.Group
	watcher.Go(func() { f.publishUse(watching, w) })
	session.Serve(ctx, func(ctx context.Context, h protocol.StreamHeader) (net.Conn, error) { return f.dial(ctx, w, h) })
	stop()
	w.end()
	unwatch()
	watcher.Wait()
	f.remove(w)
	by := w.info.By
	if other := w.closedBy.Load(); other != nil {
		by = *other
	}
	now := w.now()
	what := fmt.Sprintf("closed the forward to %s after %s: %d connections, %s sent, %s received", address(now), format.Duration(time.Since(time.UnixMilli(now.Since))), now.Total, format.Size(now.Sent), format.Size(now.Received))
	if err := f.o.Audit.Append(ctx, line(w.info, by, what)); err != nil {
		slog.Warn("The end of a forward is missing from the audit log", "forward", w.info.ID, "err", err)
	}
}

func (f *Forwards) remove(w *forward) {
	f.mu.Lock()
	delete(f.open, w.info.ID)
	f.mu.Unlock()
	f.publish()
}

func address(f protocol.Forward) string { return string(f.Node) + ":" + f.Target }

func line(f protocol.Forward, by, what string) protocol.AuditEntry {
	return protocol.AuditEntry{At: time.Now().UnixMilli(), Kind: protocol.AuditForward, By: by, Node: f.Node, What: what, Verdict: "allow"}
}

// dial connects a stream of the client to the machine.
func (f *Forwards) dial(ctx context.Context, w *forward, h protocol.StreamHeader) (net.Conn, error) {
	if h.Kind != protocol.StreamTCP || h.Target != "" || h.Service != "" {
		return nil, tunnel.ErrInvalid.With("a stream of a forward has the kind tcp and no target")
	}
	w.total.Add(1)
	conn, err := f.o.Dialer.Dial(ctx, w.info.Node, protocol.StreamHeader{Kind: protocol.StreamTCP, Target: w.info.Target})
	if errors.Is(err, tunnels.ErrOffline) {
		err = tunnel.ErrUnreachable.With(err.Error())
	}
	if err != nil {
		return nil, err
	}
	w.connections.Add(1)
	return &counted{Conn: conn, of: w}, nil
}

// counted counts the bytes of a connection to the machine.
type counted struct {
	net.Conn
	of   *forward
	once sync.Once
}

func (c *counted) Read(p []byte) (int, error)  { return c.of.count(&c.of.received)(c.Conn.Read(p)) }
func (c *counted) Write(p []byte) (int, error) { return c.of.count(&c.of.sent)(c.Conn.Write(p)) }

func (w *forward) count(bytes *atomic.Int64) func(n int, err error) (int, error) {
	return func(n int, err error) (int, error) {
		if n > 0 {
			bytes.Add(int64(n))
			w.lastUsedNano.Store(time.Now().UnixNano())
		}
		return n, err
	}
}

// CloseWrite implements tunnel.HalfCloser, and Reset and Close end the connection.
func (c *counted) CloseWrite() error { return c.Conn.(tunnel.HalfCloser).CloseWrite() }

func (c *counted) Reset() error {
	tunnel.Abort(c.Conn)
	return nil
}

func (c *counted) Close() error {
	c.once.Do(func() { c.of.connections.Add(-1) })
	return c.Conn.Close()
}

// now returns the forward with its numbers of now.
func (w *forward) now() protocol.Forward {
	info := w.info
	info.Connections, info.Total, info.Sent, info.Received = int(w.connections.Load()), w.total.Load(), w.sent.Load(), w.received.Load()
	if at := w.lastUsedNano.Load(); at > 0 {
		info.LastUsedAt = time.Unix(0, at).UnixMilli()
	}
	return info
}

func (f *Forwards) publish() { f.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeForwards}) }

// publishUse publishes changes of the forward's numbers until ctx ends.
func (f *Forwards) publishUse(ctx context.Context, w *forward) {
	last := w.now()
	wake.Every(ctx, publishEvery, func() {
		if now := w.now(); now != last {
			last = now
			f.publish()
		}
	})
}

// List lists the open forwards, oldest first.
func (f *Forwards) List(context.Context) (protocol.ForwardListResult, error) {
	list := []protocol.Forward{}
	for _, w := range f.all() {
		list = append(list, w.now())
	}
	slices.SortFunc(list, func(a, b protocol.Forward) int { return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.ID, b.ID)) })
	return protocol.ForwardListResult{Forwards: list}, nil
}

func (f *Forwards) all() []*forward {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.open))
}

// Close closes a forward and its connections, which takes a second at most. Its client does not open
// it again.
func (f *Forwards) Close(_ context.Context, by string, p protocol.ForwardParams) error {
	f.mu.Lock()
	w := f.open[p.ID]
	f.mu.Unlock()
	if w == nil {
		return protocol.ErrNotFound.With(fmt.Sprintf("No open forward has the ID %.60q", p.ID))
	}
	w.close(by)
	return nil
}

func (w *forward) close(by string) {
	w.closedBy.CompareAndSwap(nil, &by)
	w.end()
}

// CancelOf closes the forwards of an app that has lost its access. It implements apps.Work.
func (f *Forwards) CancelOf(id protocol.AppID) {
	for _, w := range f.all() {
		if w.info.App == id {
			w.close("gateway")
		}
	}
}

// Limit closes the forwards that an app may not have any more. It implements apps.Work.
func (f *Forwards) Limit(app auth.Principal) {
	for _, w := range f.all() {
		if w.info.App == app.App && tool.CheckAccess(app, w.info.Node, protocol.ScopeForward) != nil {
			w.close("gateway")
		}
	}
}
