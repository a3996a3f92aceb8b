package direct

import (
	"context"
	"crypto/hmac"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

const (
	// listenLimit is how long a destination waits for the source.
	listenLimit = 30 * time.Second
	// proveLimit bounds the time of the handshake and proof of one caller; maxCallers bounds the
	// callers that do so at the same time.
	proveLimit = 5 * time.Second
	maxCallers = 2 * maxAddresses
)

var errNoSource = errors.New("the source did not connect")

// listener is the destination.
type listener struct {
	transfer protocol.TransferID
	self     attemptKey
	token    secret
	config   *tls.Config
	networks []netip.Prefix
	ports    []net.Listener
	limit    time.Duration
	slots    chan struct{}
	accepted chan net.Conn // receives the connection of the source
	wg       crash.Group
	finished atomic.Bool // the source has connected, or Accept has given up
}

func (c *Connector) listen(id protocol.TransferID, source protocol.TransferPeer) (*listener, error) {
	pin, err := identity.ParsePin(source.Pin)
	if err != nil {
		return nil, errPin
	}
	self, err := newAttemptKey()
	if err != nil {
		return nil, err
	}
	l := &listener{
		transfer: id, self: self, token: newSecret(), config: self.config(pin),
		networks: c.networks(), limit: listenLimit, slots: make(chan struct{}, maxCallers), accepted: make(chan net.Conn, 1),
	}
	err = errors.New("this machine is not on a private network")
	for _, p := range l.networks {
		port, listenErr := net.Listen("tcp", netip.AddrPortFrom(p.Addr(), 0).String())
		if listenErr != nil {
			err = fmt.Errorf("listen for the source: %w", listenErr)
			continue
		}
		l.ports = append(l.ports, port)
	}
	if len(l.ports) == 0 {
		return nil, err
	}
	return l, nil
}

// Self implements stream.Listener.
func (l *listener) Self() protocol.TransferPeer {
	peer := protocol.TransferPeer{Pin: string(l.self.pin), Token: l.token.text()}
	for _, p := range l.ports {
		peer.Addresses = append(peer.Addresses, p.Addr().String())
	}
	return peer
}

// Close implements stream.Listener.
func (l *listener) Close() {
	for _, p := range l.ports {
		p.Close()
	}
}

// Accept implements stream.Listener. It returns the cause of ctx, or an error when nobody has
// connected within 30 seconds.
func (l *listener) Accept(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.limit, errNoSource)
	defer l.wg.Wait()
	defer cancel()
	defer l.Close()
	for _, p := range l.ports {
		l.wg.Go(func() { l.serve(ctx, p) })
	}
	select {
	case conn := <-l.accepted:
		return conn, nil
	case <-ctx.Done():
	}
	if !l.finished.CompareAndSwap(false, true) { // the source has just connected
		return <-l.accepted, nil
	}
	return nil, context.Cause(ctx)
}

// serve accepts callers and checks their proofs until the port closes.
func (l *listener) serve(ctx context.Context, port net.Listener) {
	for {
		conn, err := port.Accept()
		if err != nil {
			return
		}
		from, err := netip.ParseAddrPort(conn.RemoteAddr().String())
		if err != nil || !inside(l.networks, from.Addr()) {
			conn.Close()
			continue
		}
		select {
		case l.slots <- struct{}{}:
		// A caller that occupies all places blocks this route only: the transfer goes through the
		// gateway.
		default:
			conn.Close()
			continue
		}
		l.wg.Go(func() {
			defer func() { <-l.slots }()
			if crash.Run("direct connection", func() { l.answer(ctx, conn) }) != nil {
				conn.Close()
			}
		})
	}
}

// answer passes a caller that is the source to Accept, and closes the connection of any other.
func (l *listener) answer(ctx context.Context, raw net.Conn) {
	ctx, cancel := context.WithTimeout(ctx, proveLimit)
	defer cancel()
	hangUp := crash.WhenDone(ctx, func() { raw.Close() })
	conn := tls.Server(raw, l.config)
	proof, err := l.check(ctx, conn)
	if err != nil || !hangUp() || !l.finished.CompareAndSwap(false, true) {
		raw.Close()
		return
	}
	conn.SetWriteDeadline(time.Now().Add(proveLimit))
	conn.Write(proof) // if this fails, so does the next write
	l.accepted <- conn
}

// check verifies a caller's proof that it is the source, and returns the destination's own proof.
func (l *listener) check(ctx context.Context, conn *tls.Conn) (own []byte, err error) {
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	want, err := l.token.proof(bySource, l.transfer, conn.ConnectionState())
	if err != nil {
		return nil, err
	}
	got := make([]byte, tokenSize)
	if _, err := io.ReadFull(conn, got); err != nil {
		return nil, err
	}
	if !hmac.Equal(got, want) {
		return nil, errProof
	}
	return l.token.proof(byDestination, l.transfer, conn.ConnectionState())
}
