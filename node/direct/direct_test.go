package direct

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

const transferID = protocol.TransferID("t1")

func local() *Connector {
	return &Connector{Networks: func() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")} }}
}

// pairOf makes a source and a destination that waits for it.
func pairOf(t *testing.T) (*caller, *listener) {
	t.Helper()
	call, err := local().Source(transferID)
	if err != nil {
		t.Fatal(err)
	}
	l, err := local().listen(transferID, call.Self())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return call.(*caller), l
}

// accepting waits for the source in the background; the answer closes what came.
func accepting(t *testing.T, l *listener) (ended func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		var conn net.Conn
		if conn, err = l.Accept(ctx); err == nil {
			io.Copy(conn, conn)
			conn.Close()
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return func() error {
		wg.Wait()
		return err
	}
}

func echo(t *testing.T, conn net.Conn) {
	t.Helper()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.WriteString(conn, "hello"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestTheSourceIsLetInOnceAndNobodyAfterIt(t *testing.T) {
	call, l := pairOf(t)
	ended := accepting(t, l)
	peer := l.Self()
	conn, err := call.Dial(t.Context(), peer)
	if err != nil {
		t.Fatal(err)
	}
	echo(t, conn)
	if again, err := call.Dial(t.Context(), peer); err == nil {
		again.Close()
		t.Error("it was let in twice")
	}
	echo(t, conn) // that did not disturb it
	conn.Close()
	if err := ended(); err != nil {
		t.Error(err)
	}
}

func TestOfManyThatProveThemselvesAtOnceOneIsLetIn(t *testing.T) {
	call, l := pairOf(t)
	accepting(t, l)
	peer := l.Self()
	for range maxAddresses - 1 {
		peer.Addresses = append(peer.Addresses, peer.Addresses[0])
	}
	conn, err := call.Dial(t.Context(), peer)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	echo(t, conn)
}

func TestWhoeverIsNotTheSourceIsHungUpOn(t *testing.T) {
	call, l := pairOf(t)
	ended := accepting(t, l)
	peer := l.Self()
	refused := func(what string, c *caller, p protocol.TransferPeer) {
		t.Helper()
		if conn, err := c.Dial(t.Context(), p); err == nil {
			conn.Close()
			t.Errorf("%s was let in", what)
		}
	}
	other, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	refused("another key", &caller{c: local(), transfer: transferID, self: other}, peer)
	refused("no certificate", &caller{c: local(), transfer: transferID}, peer)
	wrong := peer
	wrong.Token = newSecret().text()
	refused("another token", call, wrong)
	refused("another transfer", &caller{c: local(), transfer: "t2", self: call.self}, peer)
	wrong = peer
	wrong.Pin = string(other.pin)
	refused("a source that expects another destination", call, wrong)
	wrong.Pin, wrong.Token = "", "x"
	refused("a source that knows nothing", call, wrong)

	old := call.self.config(l.self.pin)
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	if conn, err := tls.Dial("tcp", peer.Addresses[0], old); err == nil {
		conn.Close()
		t.Error("TLS 1.2 was let in")
	}
	for _, text := range []string{"", "GET / HTTP/1.1\r\n\r\n", strings.Repeat("x", 100_000)} {
		conn, err := net.Dial("tcp", peer.Addresses[0])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, text)
		conn.(*net.TCPConn).CloseWrite()
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%.20q holds the port", text)
		}
		conn.Close()
	}

	conn, err := call.Dial(t.Context(), peer) // and after all of them the source still is
	if err != nil {
		t.Fatal(err)
	}
	echo(t, conn)
	conn.Close()
	if err := ended(); err != nil {
		t.Error(err)
	}
}

// TestOneInTheMiddleWithItsOwnCertificateLearnsNothing has every word of both ends pass through a third machine that knows the addresses, the pins
// and, more than any could, the token.
func TestOneInTheMiddleWithItsOwnCertificateLearnsNothing(t *testing.T) {
	call, l := pairOf(t)
	ended := accepting(t, l)
	peer := l.Self()
	evil, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	middle, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer middle.Close()
	var heard, spoke error
	wg.Go(func() {
		raw, err := middle.Accept()
		if err != nil {
			return
		}
		in := tls.Server(raw, evil.config(call.self.pin)) // it lets the source in
		defer in.Close()
		if heard = in.HandshakeContext(t.Context()); heard == nil {
			_, heard = in.Read(make([]byte, 1))
		}
		out, err := tls.Dial("tcp", peer.Addresses[0], evil.config(l.self.pin)) // and goes to the destination
		if spoke = err; err != nil {
			return
		}
		defer out.Close()
		secret, _ := parseSecret(peer.Token)
		proof, _ := secret.proof(bySource, transferID, out.ConnectionState())
		out.Write(proof)
		_, spoke = io.ReadFull(out, make([]byte, tokenSize))
	})
	through := peer
	through.Addresses = []string{middle.Addr().String()}
	if conn, err := call.Dial(t.Context(), through); err == nil {
		conn.Close()
		t.Error("the source takes the one in the middle for the destination")
	} else if !errors.Is(err, errPin) {
		t.Errorf("the source says %v", err)
	}
	middle.Close()
	wg.Wait()
	if heard == nil {
		t.Error("the source said something to the one in the middle")
	}
	if spoke == nil {
		t.Error("the destination let the one in the middle in")
	}
	conn, err := call.Dial(t.Context(), peer)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := ended(); err != nil {
		t.Error(err)
	}
}

// TestAProofIsWorthNothingInAnotherSession has someone who has the source's key, but not the token, say again what the source said.
func TestAProofIsWorthNothingInAnotherSession(t *testing.T) {
	call, l := pairOf(t)
	ended := accepting(t, l)
	peer := l.Self()
	dial := func() *tls.Conn {
		conn, err := tls.Dial("tcp", peer.Addresses[0], call.self.config(l.self.pin))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	first, second := dial(), dial()
	proof, err := l.token.proof(bySource, transferID, first.ConnectionState())
	if err != nil {
		t.Fatal(err)
	}
	second.Write(proof)
	if n, err := second.Read(make([]byte, tokenSize)); err == nil {
		t.Errorf("%d bytes answer a proof of another session", n)
	}
	first.Write(proof)
	own := make([]byte, tokenSize)
	if _, err := io.ReadFull(first, own); err != nil {
		t.Fatal(err)
	}
	if string(own) == string(proof) {
		t.Error("the destination says the source's proof after it")
	}
	first.Close()
	if err := ended(); err != nil {
		t.Error(err)
	}
}

func TestAPortClosesWhenNobodyComes(t *testing.T) {
	_, l := pairOf(t)
	l.limit = 50 * time.Millisecond
	if _, err := l.Accept(t.Context()); !errors.Is(err, errNobody) {
		t.Errorf("%v", err)
	}
	shut(t, l)
	_, l = pairOf(t)
	stopped := errors.New("the transfer was stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := l.Accept(ctx); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
	shut(t, l)
	_, l = pairOf(t)
	l.Close()
	shut(t, l)
}

func shut(t *testing.T, l *listener) {
	t.Helper()
	for _, at := range l.Self().Addresses {
		if conn, err := net.Dial("tcp", at); err == nil {
			conn.Close()
			t.Errorf("%s is open still", at)
		}
	}
}

func TestASourceConnectsToItsOwnNetworksOnly(t *testing.T) {
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
	id, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	call := &caller{c: c, transfer: transferID, self: id}
	for _, at := range []string{
		"192.168.8.1:5000", "8.8.8.8:5000", "127.0.0.1:5000", "[::1]:5000", "169.254.169.254:5000", "192.168.7.1:80", "192.168.7.1", "name.example:5000",
		"[fd00:2::1]:5000", "0.0.0.0:5000", "[::ffff:8.8.8.8]:5000",
	} {
		if _, err := call.Dial(t.Context(), protocol.TransferPeer{Pin: string(id.pin), Token: newSecret().text(), Addresses: []string{at}}); err == nil {
			t.Error(at)
		}
	}
	if len(dialed) > 0 {
		t.Errorf("it went to %v", dialed)
	}
	for _, at := range []string{"192.168.7.1:5000", "[fd00:1::1]:5000"} {
		call.Dial(t.Context(), protocol.TransferPeer{Pin: string(id.pin), Token: newSecret().text(), Addresses: []string{at}})
	}
	if len(dialed) != 2 {
		t.Errorf("it went to %v", dialed)
	}
}

func TestADestinationListensOnPrivateAddressesOnly(t *testing.T) {
	for _, p := range private() {
		if a := p.Addr(); !a.IsPrivate() && !a.IsLoopback() {
			t.Errorf("%v is open to others", p)
		}
	}
	c := &Connector{Networks: func() []netip.Prefix { return nil }}
	id, err := newIdentity()
	if err != nil {
		t.Fatal(err)
	}
	if l, err := c.listen(transferID, protocol.TransferPeer{Pin: string(id.pin)}); err == nil {
		l.Close()
		t.Error("it listens without a network")
	}
	if l, err := local().listen(transferID, protocol.TransferPeer{Pin: "x"}); err == nil {
		l.Close()
		t.Error("it listens for nobody")
	}
	_, l := pairOf(t)
	at, err := netip.ParseAddrPort(l.Self().Addresses[0])
	if err != nil || !at.Addr().IsLoopback() || at.Port() < leastPort {
		t.Errorf("%v, %v", at, err)
	}
	l.networks = []netip.Prefix{netip.MustParsePrefix("192.168.7.9/24")} // whoever comes, comes from elsewhere
	accepting(t, l)
	conn, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(3 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a stranger is not hung up on: %v", err)
	}
}

func TestTheOwnerSaysWhetherThereIsAny(t *testing.T) {
	for mode, want := range map[string]bool{"": false, Off: false, LAN: true} {
		if c, err := Parse(mode); err != nil || (c != nil) != want {
			t.Errorf("%q: %v, %v", mode, c, err)
		}
	}
	if _, err := Parse("wan"); err == nil || !strings.Contains(err.Error(), "off or lan") {
		t.Error(err)
	}
}
