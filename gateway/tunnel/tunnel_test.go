package tunnel

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// machine is the machine laptop, which opens its tunnels in this process.
type machine struct {
	tunnels    *Tunnels
	extensions []string
	isOffline  bool
	isMute     bool // it does not open its tunnel
	forgotten  bool

	mu      sync.Mutex // guards the fields below
	tickets []string
	wg      sync.WaitGroup
}

func (m *machine) Node(protocol.NodeID) (protocol.NodeInfo, bool) {
	return protocol.NodeInfo{ID: "laptop"}, !m.forgotten
}

func (m *machine) Link(protocol.NodeID) (nodes.Link, nodes.Contact, bool) {
	listens := make(chan struct{})
	close(listens)
	return m, nodes.Contact{Extensions: m.extensions, Listens: listens}, !m.isOffline
}

func (m *machine) Close(int, string) {}

// SendEvent opens the tunnel. Its streams lead to an echo.
func (m *machine) SendEvent(_ context.Context, name string, payload any) error {
	ticket := payload.(protocol.TunnelOpen).Ticket
	m.mu.Lock()
	m.tickets = append(m.tickets, ticket)
	m.mu.Unlock()
	if m.isMute {
		return nil
	}
	run, err := m.tunnels.Claim("laptop", ticket)
	if err != nil {
		return err
	}
	dial, listener := client.Memory()
	m.wg.Go(func() {
		far, _ := listener.Accept()
		run(far)
	})
	near, err := dial(context.Background())
	if err != nil {
		return err
	}
	m.wg.Go(func() {
		tunnel.NewAcceptor(near).Serve(context.Background(), func(_ context.Context, h protocol.StreamHeader) (net.Conn, error) {
			if h.Target == "denied" {
				return nil, ErrDenied
			}
			a, b := net.Pipe()
			m.wg.Go(func() { io.Copy(b, b); b.Close() })
			return a, nil
		})
	})
	return nil
}

func (m *machine) opened() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.tickets)
}

// newMachine returns a machine with its tunnels, which end with stop.
func newMachine(t *testing.T) (m *machine, stop func()) {
	m = &machine{extensions: []string{protocol.ExtTunnel}}
	m.tunnels = New(m, new(event.Bus))
	ctx, cancel := context.WithCancel(t.Context())
	m.wg.Go(func() { m.tunnels.Run(ctx) })
	return m, func() {
		m.forgotten = true
		m.tunnels.bus.Publish(protocol.Change{Kind: protocol.ChangeNodeForgotten})
		synctest.Wait()
		cancel()
		m.wg.Wait()
	}
}

func TestTunnelIsSharedAndClosedWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, stop := newMachine(t)
		defer stop()
		dial := func() net.Conn {
			c, err := m.tunnels.Dial(t.Context(), "laptop", protocol.StreamHeader{})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		a, b := dial(), dial()
		if m.opened() != 1 {
			t.Errorf("two streams: got %d tunnels, want 1", m.opened())
		}
		b.Close()
		time.Sleep(2 * idleLimit)
		io.WriteString(a, "x")
		if _, err := io.ReadFull(a, make([]byte, 1)); err != nil {
			t.Errorf("a stream that is open for long: %v", err)
		}
		tunnel.Abort(a)
		time.Sleep(idleLimit - 2*idleCheck)
		tunnel.Abort(dial())
		if m.opened() != 1 {
			t.Errorf("before it was idle for long: got %d tunnels, want 1", m.opened())
		}
		time.Sleep(idleLimit + 2*idleCheck)
		tunnel.Abort(dial())
		if m.opened() != 2 {
			t.Errorf("after it was idle for long: got %d tunnels, want 2", m.opened())
		}
	})
}

func TestDialNamesItsFailure(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*machine)
		want   error
	}{
		"offline":        {func(m *machine) { m.isOffline = true }, ErrOffline},
		"an old program": {func(m *machine) { m.extensions = []string{protocol.ExtCancel} }, ErrUnsupported},
		"no tunnel":      {func(m *machine) { m.isMute = true }, ErrOffline},
		"denied":         {func(*machine) {}, ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, stop := newMachine(t)
				defer stop()
				c.change(m)
				began := time.Now()
				if _, err := m.tunnels.Dial(t.Context(), "laptop", protocol.StreamHeader{Target: "denied"}); !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				if took := time.Since(began); took > openLimit {
					t.Errorf("it took %s, want at most %s", took, openLimit)
				}
				m.isMute = false // the next attempt asks again
				if c.want == ErrOffline && !m.isOffline {
					conn, err := m.tunnels.Dial(t.Context(), "laptop", protocol.StreamHeader{})
					if err != nil {
						t.Fatal(err)
					}
					tunnel.Abort(conn)
				}
			})
		})
	}
}

func TestTunnelNeedsItsTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, stop := newMachine(t)
		defer stop()
		m.isMute = true
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go m.tunnels.Dial(ctx, "laptop", protocol.StreamHeader{})
		synctest.Wait()
		for _, c := range []struct {
			node   protocol.NodeID
			ticket string
		}{{"laptop", ""}, {"laptop", "wrong"}, {"tower", m.tickets[0]}} {
			if _, err := m.tunnels.Claim(c.node, c.ticket); !errors.Is(err, protocol.ErrConflict) {
				t.Errorf("%+v: got %v, want ErrConflict", c, err)
			}
		}
		if _, err := m.tunnels.Claim("laptop", m.tickets[0]); err != nil {
			t.Errorf("the right one: %v", err)
		}
		time.Sleep(openLimit)
		synctest.Wait()
		if _, err := m.tunnels.Claim("laptop", m.tickets[0]); !errors.Is(err, protocol.ErrConflict) {
			t.Errorf("too late: got %v, want ErrConflict", err)
		}
	})
}

func TestForgottenMachineLosesItsTunnel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, stop := newMachine(t)
		c, err := m.tunnels.Dial(t.Context(), "laptop", protocol.StreamHeader{})
		if err != nil {
			t.Fatal(err)
		}
		stop()
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("got %v, want an error that is no end", err)
		}
	})
}
