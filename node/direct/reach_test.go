package direct

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestASourceConnectsToItsOwnNetworksOnly(t *testing.T) {
	t.Parallel()
	var dialed []string
	c := &Connector{
		Networks: func() []netip.Prefix {
			return []netip.Prefix{netip.MustParsePrefix("192.168.7.9/24"), netip.MustParsePrefix("fd00:1::9/64")}
		},
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			dialed = append(dialed, address)
			return nil, errors.New("no")
		},
	}
	id, err := newAttemptKey()
	if err != nil {
		t.Fatal(err)
	}
	call := &caller{c: c, transfer: transferID, self: id}
	for _, at := range []string{
		"192.168.8.1:5000", "8.8.8.8:5000", "127.0.0.1:5000", "[::1]:5000", "169.254.169.254:5000", "192.168.7.1:80", "192.168.7.1", "name.example:5000",
		"[fd00:2::1]:5000", "0.0.0.0:5000", "[::ffff:8.8.8.8]:5000",
	} {
		if _, err := call.Dial(t.Context(), protocol.TransferPeer{Pin: string(id.pin), Token: newSecret().text(), Addresses: []string{at}}); err == nil {
			t.Errorf("%s: got a connection, want an error", at)
		}
	}
	if len(dialed) > 0 {
		t.Errorf("got connections to %v, want none", dialed)
	}
	for _, at := range []string{"192.168.7.1:5000", "[fd00:1::1]:5000"} {
		call.Dial(t.Context(), protocol.TransferPeer{Pin: string(id.pin), Token: newSecret().text(), Addresses: []string{at}})
	}
	if len(dialed) != 2 {
		t.Errorf("got connections to %v, want two", dialed)
	}
}

func TestADestinationListensOnPrivateAddressesOnly(t *testing.T) {
	t.Parallel()
	for _, p := range private() {
		if a := p.Addr(); !a.IsPrivate() && !a.IsLoopback() {
			t.Errorf("got public address %v, want a private one", p)
		}
	}
	c := &Connector{Networks: func() []netip.Prefix { return nil }}
	id, err := newAttemptKey()
	if err != nil {
		t.Fatal(err)
	}
	if l, err := c.Destination(transferID, protocol.TransferPeer{Pin: string(id.pin)}); err == nil || l != nil {
		t.Errorf("it listens without a network: %v, %v", l, err)
	}
	if l, err := local().listen(transferID, protocol.TransferPeer{Pin: "x"}); err == nil {
		l.Close()
		t.Error("it listens for nobody")
	}
	_, l := pairOf(t)
	at, err := netip.ParseAddrPort(l.Self().Addresses[0])
	if err != nil || !at.Addr().IsLoopback() || at.Port() < leastPort {
		t.Errorf("got %v, error %v, want a loopback address with a high port", at, err)
	}
	// Every caller is on another network.
	l.networks = []netip.Prefix{netip.MustParsePrefix("192.168.7.9/24")}
	acceptInBackground(t, l)
	conn, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(3 * time.Minute))
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a stranger is not hung up on: %v", err)
	}
}

func TestOwnerCanTurnDirectTransfersOff(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]bool{"": false, Off: false, LAN: true} {
		if c, err := Parse(mode); err != nil || (c != nil) != want {
			t.Errorf("%q: got %v, error %v, want a connector: %v", mode, c, err, want)
		}
	}
	if _, err := Parse("wan"); err == nil || !strings.Contains(err.Error(), "off or lan") {
		t.Errorf(`got %v; want an error with "off or lan"`, err)
	}
}
