// Package network is the listener for other machines: TLS with the gateway's own certificate, only
// while the person has turned it on. It is independent of the loopback listener.
package network

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

// Options configure a listener. All fields are required.
type Options struct {
	Secrets keychain.Store // of the certificate
	Config  func() config.Config
	Bus     *event.Bus
	Uses    Uses // of the listener
	// Announce announces the gateway on the local network until ctx ends.
	Announce func(ctx context.Context, pin identity.Pin, port int) error
}

// Listener listens according to the settings. It is safe for concurrent use. Call Run once.
type Listener struct {
	o      Options
	reload wake.Signal // holds a token when the settings have changed

	mu      sync.Mutex // guards the fields below
	running bool
	problem string // why the listener does not run, or ""
	pin     identity.Pin
	at      net.TCPAddr
}

// New returns a listener that does not listen yet.
func New(o Options) *Listener { return &Listener{o: o, reload: wake.New()} }

// ConfigChanged makes Run follow a changed setting. It does not wait.
func (n *Listener) ConfigChanged(string) {
	n.reload.Send()
}

// Pin returns the pin of the certificate, or "" before the first start of the listener.
func (n *Listener) Pin() identity.Pin {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pin
}

// Status returns the state of the listener with its current addresses.
func (n *Listener) Status() protocol.NetworkStatus {
	want := n.o.Config().Network
	n.mu.Lock()
	defer n.mu.Unlock()
	s := protocol.NetworkStatus{
		Enabled: want.Enabled, Listen: want.Listen, Listening: n.running, Discovery: n.running && want.Discovery, Problem: n.problem,
		Pin: string(n.pin), Words: n.pin.Words(),
	}
	if n.running {
		s.Addresses = addresses(n.at.IP, n.at.Port)
	}
	return s
}

// retryBind is the interval of attempts to bind an address: an interface may come up later.
const retryBind = 15 * time.Second

// Run listens according to the settings until ctx ends. serve serves a listener until its ctx ends.
func (n *Listener) Run(ctx context.Context, serve func(context.Context, net.Listener) error) {
	defer n.setState(false, "")
	for ctx.Err() == nil {
		want := n.o.Config().Network
		run, stop := context.WithCancel(ctx)
		var stopped crash.Group
		var retry <-chan time.Time
		if !want.Enabled {
			n.setState(false, "")
		} else if err := n.start(run, want, &stopped, serve); err != nil {
			n.setState(false, err.Error())
			retry = time.After(retryBind)
		}
		n.awaitChange(ctx, want, retry)
		stop()
		stopped.Wait()
	}
}

// awaitChange returns when the settings differ from those in use, at the retry, or when ctx ends.
func (n *Listener) awaitChange(ctx context.Context, inUse config.Network, retry <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-retry:
			return
		case <-n.reload:
			if n.o.Config().Network != inUse {
				return
			}
		}
	}
}

// setState stores the state and reports it if it has changed.
func (n *Listener) setState(running bool, problem string) {
	n.mu.Lock()
	same := n.running == running && n.problem == problem
	n.running, n.problem = running, problem
	n.mu.Unlock()
	if !same {
		n.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeDevices})
	}
}

// start binds, and serves in goroutines of wg until ctx ends.
func (n *Listener) start(ctx context.Context, want config.Network, wg *crash.Group, serve func(context.Context, net.Listener) error) error {
	l, pin, err := listenTLS(n.o.Secrets, want.Listen)
	if err != nil {
		return err
	}
	at, _ := l.Addr().(*net.TCPAddr)
	n.mu.Lock()
	n.pin, n.at = pin, *at
	n.mu.Unlock()
	n.setState(true, "")
	wg.Go(func() {
		defer l.Close()
		if err := serve(ctx, l); err != nil && !errors.Is(err, net.ErrClosed) {
			n.setState(false, err.Error())
		}
	})
	if want.Discovery && !at.IP.IsLoopback() {
		wg.Go(func() { n.o.Announce(ctx, pin, at.Port) })
	}
	return nil
}

// listenTLS listens with the gateway's certificate, whose pin devices store.
func listenTLS(secrets keychain.Store, address string) (net.Listener, identity.Pin, error) {
	cert, pin, err := auth.OpenCertificate(secrets, time.Now())
	if err != nil {
		return nil, "", err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, "", fmt.Errorf("listen on %s: %w", address, err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}}
	return tls.NewListener(l, config), pin, nil
}

// maxAddresses is the number of addresses that are shown.
const maxAddresses = 6

// addresses returns the addresses at which others can reach a listener: its own address, or those
// of every active interface, private networks first, and loopback only without others.
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
	for _, a := range list[:min(len(list), maxAddresses)] {
		out = append(out, join(a))
	}
	return out
}

// rank orders addresses by how likely they are the one to use.
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
