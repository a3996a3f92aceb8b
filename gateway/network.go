package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/install"
	"fairlead/gateway/pairing"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/junction"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/trust"
	"fairlead/gateway/protocol"
)

// network is the listener for other machines: TLS with our own certificate, only while the person
// has turned it on. It is independent of the loopback listener.
type network struct {
	secrets keychain.Store
	wanted  func() (enabled bool, listen string, discovery bool)
	serve   func(ctx context.Context, l net.Listener) error
	changed func()
	// announce announces the gateway on the local network until ctx ends; nil if that is
	// unsupported.
	announce func(ctx context.Context, pin trust.Pin, port int) error
	kick     chan struct{} // holds a token when the settings have changed
	meetings junction.Junction

	mu     sync.Mutex // guards the fields below
	status protocol.NetworkStatus
	pin    trust.Pin
	port   int
	bound  net.IP
}

func newNetwork(secrets keychain.Store) *network {
	return &network{secrets: secrets, kick: make(chan struct{}, 1)}
}

// meet lets two machines connect to each other through the listener; ok is false if there is no
// listener.
func (n *network) meet() (one, other string, over func(), ok bool) {
	n.mu.Lock()
	ok = n.status.Listening
	n.mu.Unlock()
	if !ok {
		return "", "", nil, false
	}
	one, other, over = n.meetings.Meet()
	return one, other, over, true
}

// wake makes run check the settings again.
func (n *network) wake() {
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

// Status returns the state of the listener with its current addresses.
func (n *network) Status() protocol.NetworkStatus {
	enabled, listen, discovery := n.wanted()
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.status
	s.Enabled, s.Listen, s.Pin, s.Words = enabled, listen, string(n.pin), n.pin.Words()
	s.Discovery = s.Listening && discovery
	if s.Listening {
		s.Addresses = addresses(n.bound, n.port)
	}
	return s
}

// retryBind is the interval of attempts to bind an address: an interface may come up later.
const retryBind = 15 * time.Second

// run listens according to the settings until ctx ends.
func (n *network) run(ctx context.Context) {
	for ctx.Err() == nil {
		enabled, listen, discovery := n.wanted()
		var wait <-chan time.Time
		one, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		if enabled {
			if err := n.start(one, listen, discovery, done); err != nil {
				n.set(false, err.Error())
				close(done)
				timer := time.NewTimer(retryBind)
				defer timer.Stop()
				wait = timer.C
			}
		} else {
			n.set(false, "")
			close(done)
		}
		for again := true; again; {
			select {
			case <-ctx.Done():
				again = false
			case <-wait:
				again = false
			case <-n.kick:
				e, l, d := n.wanted()
				again = e == enabled && l == listen && d == discovery
			}
		}
		cancel()
		<-done
	}
	n.set(false, "")
}

// set stores the state and publishes it if it has changed.
func (n *network) set(listening bool, problem string) {
	n.mu.Lock()
	same := n.status.Listening == listening && n.status.Problem == problem
	n.status.Listening, n.status.Problem = listening, problem
	n.mu.Unlock()
	if !same {
		n.changed()
	}
}

// start binds and serves until ctx ends; done is closed when everything has stopped.
func (n *network) start(ctx context.Context, listen string, discovery bool, done chan struct{}) error {
	l, err := listenTLS(n.secrets, listen, &n.meetings)
	if err != nil {
		return err
	}
	at, _ := l.Addr().(*net.TCPAddr)
	pin := l.pin
	n.mu.Lock()
	n.pin, n.port, n.bound = pin, at.Port, at.IP
	n.mu.Unlock()
	n.set(true, "")
	var wg sync.WaitGroup
	wg.Go(func() {
		defer l.Close()
		if err := n.serve(ctx, l); err != nil && !errors.Is(err, net.ErrClosed) {
			n.set(false, err.Error())
		}
	})
	if discovery && n.announce != nil && !at.IP.IsLoopback() {
		wg.Go(func() { n.announce(ctx, pin, at.Port) })
	}
	go func() {
		wg.Wait()
		close(done)
	}()
	return nil
}

// tlsListener speaks TLS with the gateway's own certificate, whose pin devices store.
type tlsListener struct {
	net.Listener
	tcp *net.TCPListener
	pin trust.Pin
}

// SetDeadline sets the deadline of Accept, as for a TCP listener.
func (l tlsListener) SetDeadline(t time.Time) error { return l.tcp.SetDeadline(t) }

func listenTLS(secrets keychain.Store, listen string, meetings *junction.Junction) (tlsListener, error) {
	cert, pin, err := auth.OpenCertificate(secrets, time.Now())
	if err != nil {
		return tlsListener{}, err
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return tlsListener{}, fmt.Errorf("listen on %s: %w", listen, err)
	}
	secured := tls.NewListener(meetings.Listen(l), &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}})
	return tlsListener{secured, l.(*net.TCPListener), pin}, nil
}

// addresses returns the addresses at which others can reach a listener: its own address, or those
// of every active interface, private networks first. Loopback addresses are returned only if there
// are no others.
func addresses(bound net.IP, port int) []string {
	join := func(a netip.Addr) string { return net.JoinHostPort(a.Unmap().String(), strconv.Itoa(port)) }
	if a, ok := netip.AddrFromSlice(bound); ok && !a.Unmap().IsUnspecified() {
		return []string{join(a)}
	}
	found, _ := net.InterfaceAddrs()
	var list []netip.Addr
	for _, f := range found {
		p, ok := f.(*net.IPNet)
		if !ok {
			continue
		}
		if a, ok := netip.AddrFromSlice(p.IP); ok && a.Unmap().IsGlobalUnicast() {
			list = append(list, a.Unmap())
		}
	}
	slices.SortStableFunc(list, func(a, b netip.Addr) int { return rank(a) - rank(b) })
	if len(list) == 0 {
		list = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	}
	var out []string
	for _, a := range list[:min(len(list), 6)] {
		out = append(out, join(a))
	}
	return out
}

func rank(a netip.Addr) int {
	switch {
	case a.Is4() && a.IsPrivate():
		return 0
	case a.Is4():
		return 1
	case a.IsPrivate():
		return 3
	}
	return 2
}

// openDevices sets up the paired devices and their listener.
func (g *Gateway) openDevices(ctx context.Context) (err error) {
	g.network = newNetwork(g.secrets)
	g.network.wanted = func() (bool, string, bool) {
		c := g.config.Get().Network
		return c.Enabled, c.Listen, c.Discovery
	}
	g.network.changed = func() { g.bus.Publish(protocol.Change{Kind: protocol.ChangeDevices}) }
	g.network.announce = discovery.Announce
	g.network.serve = func(ctx context.Context, l net.Listener) error { return g.server.Serve(ctx, l, false) }
	name, _ := os.Hostname()
	if name == "" {
		name = "Fairlead"
	}
	o := pairing.Options{Store: g.store, Bus: g.bus, Nodes: g.hub, Network: g.network.Status, Name: name, Ended: g.unpaired}
	if exe, err := os.Executable(); err == nil {
		programs := install.New(func() trust.Pin { return trust.Pin(g.network.Status().Pin) }, install.Beside(exe)...)
		g.install, o.Ships = programs, programs.Ships
	}
	g.devices, err = pairing.Open(ctx, o)
	return err
}
