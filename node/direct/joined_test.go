package direct

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"

	"fairlead/gateway/peer/junction"
	"fairlead/gateway/protocol"
)

// meetingPlace returns a gateway's port, and a function that connects to it.
func meetingPlace(t *testing.T) (j *junction.Junction, beside func(context.Context) (net.Conn, error)) {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	j = new(junction.Junction)
	l := j.Listen(raw)
	t.Cleanup(func() { l.Close() })
	return j, func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", raw.Addr().String())
	}
}

// joinedPair makes a source and a destination that waits for it, and the peer that is passed to the
// source.
func joinedPair(t *testing.T, j *junction.Junction, c *Connector) (*caller, *listener, protocol.TransferPeer) {
	t.Helper()
	one, other, over := j.Meet()
	t.Cleanup(over)
	call, err := c.Source(transferID)
	if err != nil {
		t.Fatal(err)
	}
	source := call.Self()
	source.Ticket, source.Near = other, true
	l, err := c.listen(transferID, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	peer := l.Self()
	peer.Ticket = one
	return call.(*caller), l, peer
}

func TestEndsThatTheGatewayJoinsProveThemselves(t *testing.T) {
	j, beside := meetingPlace(t)
	call, l, peer := joinedPair(t, j, &Connector{Alone: true, Beside: beside})
	if len(peer.Addresses) > 0 {
		t.Errorf("a port is open at %v, which its owner does not want", peer.Addresses)
	}
	ended := accepting(t, l)
	conn, route, err := call.Dial(t.Context(), peer)
	if err != nil || route != protocol.RouteRelay {
		t.Fatalf("%s, %v", route, err)
	}
	echo(t, conn)
	conn.Close()
	if err := ended(); err != nil {
		t.Error(err)
	}
}

func TestASourceGoesStraightWhereItCan(t *testing.T) {
	j, beside := meetingPlace(t)
	c := local()
	c.Beside = beside
	call, l, peer := joinedPair(t, j, c)
	accepting(t, l)
	conn, route, err := call.Dial(t.Context(), peer)
	if err != nil || route != protocol.RouteDirect {
		t.Fatalf("%s, %v", route, err)
	}
	defer conn.Close()
	echo(t, conn)
}

func TestASourceThatCannotGoStraightIsJoined(t *testing.T) {
	j, beside := meetingPlace(t)
	c := local()
	c.Beside = beside
	c.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route to host") }
	call, l, peer := joinedPair(t, j, c)
	ended := accepting(t, l)
	conn, route, err := call.Dial(t.Context(), peer)
	if err != nil || route != protocol.RouteRelay {
		t.Fatalf("%s, %v", route, err)
	}
	echo(t, conn)
	conn.Close()
	if err := ended(); err != nil {
		t.Error(err)
	}
	shut(t, l)
}

// TestWhoComesWithASourcesTicketIsNotTheSource: an attacker who knows the source's ticket connects
// first, and one who knows the destination's ticket takes its place.
func TestWhoComesWithASourcesTicketIsNotTheSource(t *testing.T) {
	j, beside := meetingPlace(t)
	evil, err := newAttemptKey()
	if err != nil {
		t.Fatal(err)
	}
	call, l, peer := joinedPair(t, j, &Connector{Alone: true, Beside: beside})
	l.limit = listenLimit
	ctx, stop := context.WithCancelCause(t.Context())
	var accepted error
	var wg sync.WaitGroup
	wg.Go(func() {
		var conn net.Conn
		if conn, accepted = l.Accept(ctx); accepted == nil {
			conn.Close()
		}
	})
	raw, err := beside(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := junction.Enter(t.Context(), raw, peer.Ticket); err != nil {
		t.Fatal(err)
	}
	conn := tls.Client(raw, evil.config(l.self.pin))
	// The destination's handshake may be finished before it has seen the certificate.
	conn.Handshake()
	if n, err := io.Copy(io.Discard, conn); n > 0 || err == nil {
		t.Errorf("the destination said %d bytes to a stranger, %v", n, err)
	}
	conn.Close()
	stopped := errors.New("stopped")
	stop(stopped)
	wg.Wait()
	if !errors.Is(accepted, stopped) {
		t.Errorf("a stranger was taken for the source: %v", accepted)
	}

	one, other, over := j.Meet()
	defer over()
	wg.Go(func() {
		raw, err := beside(t.Context())
		if err != nil || junction.Enter(t.Context(), raw, other) != nil {
			t.Errorf("%v", err)
			return
		}
		conn := tls.Server(raw, evil.config(call.self.pin))
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("the source said something to a stranger")
		}
		conn.Close()
	})
	peer.Ticket = one
	if conn, _, err := call.Dial(t.Context(), peer); !errors.Is(err, errPin) {
		if err == nil {
			conn.Close()
		}
		t.Errorf("%v", err)
	}
	wg.Wait()
}

func TestADestinationThatIsOfferedNoWaySaysSo(t *testing.T) {
	_, beside := meetingPlace(t)
	pin := string(mustIdentity(t).pin)
	for what, c := range map[string]struct {
		c    Connector
		peer protocol.TransferPeer
	}{
		"no ticket, and its owner wants no port": {Connector{Alone: true, Beside: beside}, protocol.TransferPeer{Pin: pin, Near: true}},
		"a ticket, and no way to the gateway":    {Connector{Alone: true}, protocol.TransferPeer{Pin: pin, Ticket: "x"}},
		"a network that it is not on":            {Connector{Networks: func() []netip.Prefix { return nil }}, protocol.TransferPeer{Pin: pin, Near: true}},
		"nothing":                                {Connector{Beside: beside}, protocol.TransferPeer{Pin: pin}},
	} {
		if l, err := c.c.Destination(transferID, c.peer); err == nil {
			l.Close()
			t.Error(what)
		}
	}
}

func mustIdentity(t *testing.T) attemptKey {
	t.Helper()
	id, err := newAttemptKey()
	if err != nil {
		t.Fatal(err)
	}
	return id
}
