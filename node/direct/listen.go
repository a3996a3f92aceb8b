package direct

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"fairlead/gateway/peer/junction"
	"fairlead/gateway/peer/trust"
	"fairlead/gateway/protocol"
)

const (
	// listenLimit is how long a destination waits for the source.
	listenLimit = 30 * time.Second
	// proveLimit is how long whoever connects may take to prove who it is, and maxCallers how many may be at it at once.
	proveLimit = 5 * time.Second
	maxCallers = 2 * maxAddresses
)

var errNobody = errors.New("nobody has come")

// listener is a destination.
type listener struct {
	transfer protocol.TransferID
	self     identity
	token    secret
	config   *tls.Config
	networks []netip.Prefix
	ports    []net.Listener
	beside   func(context.Context) (net.Conn, error) // to the gateway, where ticket joins it to the source's; nil: not that way
	ticket   string
	limit    time.Duration
	turns    chan struct{}
	came     chan net.Conn // the source
	wg       sync.WaitGroup

	mu    sync.Mutex // guards what follows
	taken bool       // by the source, or nobody may come any more
}

func (c *Connector) listen(id protocol.TransferID, source protocol.TransferPeer) (*listener, error) {
	pin, err := trust.ParsePin(source.Pin)
	if err != nil {
		return nil, errPin
	}
	self, err := newIdentity()
	if err != nil {
		return nil, err
	}
	l := &listener{
		transfer: id, self: self, token: newSecret(), config: self.config(pin),
		limit: listenLimit, turns: make(chan struct{}, maxCallers), came: make(chan net.Conn, 1),
	}
	if source.Ticket != "" && c.Beside != nil {
		l.beside, l.ticket = c.Beside, source.Ticket
	}
	if source.Near && !c.Alone {
		err = l.open(c.networks())
	}
	if len(l.ports) == 0 && l.beside == nil {
		return nil, cmp.Or(err, errNoWay)
	}
	return l, nil
}

var errNoWay = errors.New("the gateway offers no way")

// open listens on private networks.
func (l *listener) open(networks []netip.Prefix) error {
	l.networks = networks
	err := errors.New("this machine is on no private network")
	for _, p := range l.networks {
		port, listenErr := net.Listen("tcp", netip.AddrPortFrom(p.Addr(), 0).String())
		if listenErr != nil {
			err = fmt.Errorf("listen for the source: %w", listenErr)
			continue
		}
		l.ports = append(l.ports, port)
	}
	return err
}

// Self is stream.Listener.
func (l *listener) Self() protocol.TransferPeer {
	peer := protocol.TransferPeer{Pin: string(l.self.pin), Token: l.token.text()}
	for _, p := range l.ports {
		peer.Addresses = append(peer.Addresses, p.Addr().String())
	}
	return peer
}

// Close is stream.Listener.
func (l *listener) Close() {
	for _, p := range l.ports {
		p.Close()
	}
}

// Accept is stream.Listener. Errors: the cause of ctx, or that nobody has come within 30 seconds.
func (l *listener) Accept(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.limit, errNobody)
	defer l.wg.Wait()
	defer cancel()
	defer l.Close()
	for _, p := range l.ports {
		l.wg.Go(func() { l.serve(ctx, p) })
	}
	if l.beside != nil {
		l.wg.Go(func() { l.join(ctx) })
	}
	select {
	case conn := <-l.came:
		return conn, nil
	case <-ctx.Done():
	}
	if !l.take() { // it came just now
		return <-l.came, nil
	}
	return nil, context.Cause(ctx)
}

// take is true once.
func (l *listener) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.taken
	l.taken = true
	return !was
}

// serve lets callers prove themselves until the port closes.
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
		case l.turns <- struct{}{}:
		default: // whoever holds all the places holds up nothing but this way: the transfer goes through the gateway
			conn.Close()
			continue
		}
		l.wg.Go(func() {
			defer func() { <-l.turns }()
			l.answer(ctx, conn)
		})
	}
}

// join waits for the source where the gateway joins the two.
func (l *listener) join(ctx context.Context) {
	conn, err := l.beside(ctx)
	if err != nil {
		return // who has not come by another way by then is told of the time
	}
	if junction.Enter(ctx, conn, l.ticket) == nil {
		l.answer(ctx, conn)
	}
}

// answer gives Accept a caller that is the source, and hangs up on any other.
func (l *listener) answer(ctx context.Context, raw net.Conn) {
	ctx, cancel := context.WithTimeout(ctx, proveLimit)
	defer cancel()
	hangUp := context.AfterFunc(ctx, func() { raw.Close() })
	conn := secure(raw, tls.Server, l.config)
	proof, err := l.check(ctx, conn.Conn)
	if err != nil || !hangUp() || !l.take() {
		raw.Close()
		return
	}
	conn.SetWriteDeadline(time.Now().Add(proveLimit))
	conn.Write(proof) // if that fails, so does what is sent next
	l.came <- conn
}

// check lets a caller prove that it is the source, and returns the destination's own proof.
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
