// Package forward is a client's side of a forward: a local port that leads to a port of a machine,
// like that of ssh -L. The gateway's side is package gateway/forward.
package forward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// Pauses between attempts to reach the gateway again.
const (
	minPause = 500 * time.Millisecond
	maxPause = 10 * time.Second
)

// waitLimit is how long a connection to the local port waits while the gateway cannot be reached.
const waitLimit = 15 * time.Second

// ErrClosed is the end of a forward that somebody else closed.
var ErrClosed = errors.New("the forward was closed at the gateway")

// Options say what a forward leads to.
type Options struct {
	Client client.Options // the address and the credentials, and Connect
	Node   protocol.NodeID
	Target string // host:port
	// Port is the local port; 0 chooses a free one.
	Port uint16
	// OnOpen is called each time the gateway has accepted the forward, and OnLost with the reason when
	// the connection was lost. OnError is called when a connection failed. Each may be nil.
	OnOpen  func(protocol.Forward)
	OnLost  func(error)
	OnError func(error)
}

// Listener is an open local port. Call Run once.
type Listener struct {
	o Options
	l net.Listener

	mu      sync.Mutex // guards the fields below
	session *tunnel.Session
	changed chan struct{} // closed when session changes
}

// Listen opens the local port, on this computer's loopback address only.
func Listen(o Options) (*Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(o.Port))))
	if err != nil {
		return nil, fmt.Errorf("open the local port: %w", err)
	}
	return &Listener{o: o, l: l, changed: make(chan struct{})}, nil
}

// Address returns the local address, host:port.
func (f *Listener) Address() string { return f.l.Addr().String() }

// Close closes a listener whose Run was never called.
func (f *Listener) Close() { f.l.Close() }

// Run serves the local port until ctx ends, the gateway refuses the forward, or somebody closes it
// there ([ErrClosed]). When the connection to the gateway is lost, the port stays open and Run connects
// again; but the first attempt must succeed. At the end, all connections are closed.
func (f *Listener) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg crash.Group
	defer wg.Wait()
	defer cancel()
	defer f.l.Close()
	pause := minPause
	for opened := false; ; {
		err := f.connect(ctx, func() {
			if pause = minPause; !opened {
				opened = true
				wg.Go(func() { f.accept(ctx, &wg) })
			}
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !opened || isFinal(err):
			return err
		}
		if f.o.OnLost != nil {
			f.o.OnLost(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
			pause = min(pause*2, maxPause)
		}
	}
}

// isFinal reports whether another attempt is useless.
func isFinal(err error) bool {
	for _, final := range []error{ErrClosed, protocol.ErrUnauthorized, protocol.ErrForbidden, protocol.ErrNotFound, protocol.ErrBadRequest} {
		if errors.Is(err, final) {
			return true
		}
	}
	return false
}

// connect opens the forward at the gateway and returns why it ended. It calls opened once it is open.
func (f *Listener) connect(ctx context.Context, opened func()) error {
	conn, info, err := client.OpenTunnel(ctx, f.o.Client, protocol.ForwardConnect, func(c protocol.ClientInfo, a *protocol.Auth) protocol.ForwardConnectParams {
		return protocol.ForwardConnectParams{Client: c, Auth: a, Node: f.o.Node, Target: f.o.Target, Listen: f.Address()}
	})
	if err != nil {
		return err
	}
	session := tunnel.NewOpener(conn)
	defer session.Drop()
	defer crash.WhenDone(ctx, session.Drop)()
	f.setSession(session)
	defer f.setSession(nil)
	opened()
	if f.o.OnOpen != nil {
		f.o.OnOpen(info)
	}
	if err := session.Wait(); errors.Is(err, tunnel.ErrClosed) {
		return ErrClosed
	} else {
		return protocol.ErrUnavailable.With(fmt.Sprintf("connection lost: %v", err))
	}
}

func (f *Listener) setSession(s *tunnel.Session) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.session = s
	close(f.changed)
	f.changed = make(chan struct{})
}

// current waits for a session, at most for waitLimit.
func (f *Listener) current(ctx context.Context) (*tunnel.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	for {
		f.mu.Lock()
		s, changed := f.session, f.changed
		f.mu.Unlock()
		if s != nil {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, protocol.ErrUnavailable.With("the gateway cannot be reached")
		}
	}
}

// accept serves connections to the local port until it is closed.
func (f *Listener) accept(ctx context.Context, wg *crash.Group) {
	defer crash.WhenDone(ctx, func() { f.l.Close() })()
	for {
		conn, err := f.l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files
			select {
			case <-ctx.Done():
				return
			case <-time.After(minPause):
			}
			continue
		}
		wg.Go(func() {
			if err := f.serve(ctx, conn); err != nil && ctx.Err() == nil && f.o.OnError != nil {
				f.o.OnError(err)
			}
		})
	}
}

func (f *Listener) serve(ctx context.Context, conn net.Conn) error {
	session, err := f.current(ctx)
	var stream net.Conn
	if err == nil {
		stream, err = session.Open(ctx, protocol.StreamHeader{Kind: protocol.StreamTCP})
	}
	if err != nil {
		tunnel.Abort(conn)
		return err
	}
	tunnel.Join(conn, stream)
	return nil
}
