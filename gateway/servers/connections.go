package servers

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/publicnet"
)

const maxRedirects = 5

// connections are the network connections to a server, so that its end breaks requests that wait.
type connections struct {
	isOnInternet atomic.Bool // the server is

	mu       sync.Mutex // guards the fields below
	open     map[*connection]bool
	isClosed bool
}

func newConnections() *connections { return &connections{open: make(map[*connection]bool)} }

// connection is a network connection that leaves the list when it is closed.
type connection struct {
	net.Conn
	list *connections
}

func (c *connection) Close() error {
	c.list.mu.Lock()
	delete(c.list.open, c)
	c.list.mu.Unlock()
	return c.Conn.Close()
}

// transport returns a transport whose connections are recorded.
func (c *connections) transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if at, ok := conn.RemoteAddr().(*net.TCPAddr); ok && publicnet.Has(at.AddrPort().Addr()) {
			c.isOnInternet.Store(true)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.isClosed {
			conn.Close()
			return nil, net.ErrClosed
		}
		one := &connection{conn, c}
		c.open[one] = true
		return one, nil
	}
	return t
}

func (c *connections) close() {
	c.mu.Lock()
	c.isClosed = true
	open := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	for _, conn := range open {
		conn.Close()
	}
}

// signIn returns the client for the addresses that the server names for its sign-in. A server on the
// Internet must not have the gateway make requests in its own network.
func (c *connections) signIn() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dialer := &net.Dialer{Timeout: connectLimit, ControlContext: func(ctx context.Context, network, address string, raw syscall.RawConn) error {
		if !c.isOnInternet.Load() {
			return nil
		}
		return publicnet.Control(ctx, network, address, raw)
	}}
	t.DialContext = dialer.DialContext
	return &http.Client{Transport: t, Timeout: connectLimit}
}

// checkRedirect follows redirects within the server's host only: the person chose that host, and
// requests contain arguments and keys.
func checkRedirect(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > maxRedirects:
		return &refusal{error: fmt.Errorf("more than %d redirects", maxRedirects)}
	case r.URL.Hostname() != first.Hostname() || first.Scheme == "https" && r.URL.Scheme != "https":
		return &refusal{error: fmt.Errorf("the server redirects to %s: use that address if you trust it", format.Line(r.URL.Redacted(), maxTitle))}
	case via[0].Method == http.MethodPost && r.Method != http.MethodPost: // a message would be lost
		return &refusal{error: fmt.Errorf("the server redirects to %s: use that address", format.Line(r.URL.Redacted(), maxTitle))}
	}
	return nil
}
