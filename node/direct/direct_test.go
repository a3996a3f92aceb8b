package direct

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/peer/crash/crashtest"
	"fairlead/gateway/protocol"
)

func TestSourceIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	call, l := pairOf(t)
	ended := acceptInBackground(t, l)
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
	echo(t, conn) // the connection still works
	conn.Close()
	if err := ended(); err != nil {
		t.Error(err)
	}
}

func TestOneOfManyConcurrentProofsIsAccepted(t *testing.T) {
	t.Parallel()
	call, l := pairOf(t)
	acceptInBackground(t, l)
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

func TestOnlyTheSourceStaysConnected(t *testing.T) {
	t.Parallel()
	call, l := pairOf(t)
	ended := acceptInBackground(t, l)
	peer := l.Self()
	refused := func(what string, c *caller, p protocol.TransferPeer) {
		t.Helper()
		if conn, err := c.Dial(t.Context(), p); err == nil {
			conn.Close()
			t.Errorf("%s: got a connection, want an error", what)
		}
	}
	other, err := newAttemptKey()
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
		conn.SetReadDeadline(time.Now().Add(3 * time.Minute))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%.20q: got an open connection, want it closed", text)
		}
		conn.Close()
	}

	conn, err := call.Dial(t.Context(), peer) // after all of them, the source is still accepted
	if err != nil {
		t.Fatal(err)
	}
	echo(t, conn)
	conn.Close()
	if err := ended(); err != nil {
		t.Error(err)
	}
}

// TestManInTheMiddleLearnsNothing passes all data of both ends through a third
// machine that knows the addresses, the pins and even the token, which no attacker has.
func TestManInTheMiddleLearnsNothing(t *testing.T) {
	t.Parallel()
	call, l := pairOf(t)
	ended := acceptInBackground(t, l)
	peer := l.Self()
	evil, err := newAttemptKey()
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
		in := tls.Server(raw, evil.config(call.self.pin)) // it accepts the source
		defer in.Close()
		if heard = in.HandshakeContext(t.Context()); heard == nil {
			_, heard = in.Read(make([]byte, 1))
		}
		// and connects to the destination
		out, err := tls.Dial("tcp", peer.Addresses[0], evil.config(l.self.pin))
		spoke = err
		if err != nil {
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
		t.Errorf("the source: got error %v, want %v", err, errPin)
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

// TestProofIsInvalidInAnotherSession replays the source's proof by someone who has the
// source's key, but not the token.
func TestProofIsInvalidInAnotherSession(t *testing.T) {
	t.Parallel()
	call, l := pairOf(t)
	ended := acceptInBackground(t, l)
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
		t.Errorf("a proof of another session: got %d bytes, want none", n)
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

func TestUnusedPortCloses(t *testing.T) {
	t.Parallel()
	_, l := pairOf(t)
	l.limit = 50 * time.Millisecond
	if _, err := l.Accept(t.Context()); !errors.Is(err, errNoSource) {
		t.Errorf("got error %v, want %v", err, errNoSource)
	}
	closeListener(t, l)
	_, l = pairOf(t)
	stopped := errors.New("the transfer was stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := l.Accept(ctx); !errors.Is(err, stopped) {
		t.Errorf("got error %v, want %v", err, stopped)
	}
	closeListener(t, l)
	_, l = pairOf(t)
	l.Close()
	closeListener(t, l)
}

func TestPanicFailsOneConnection(t *testing.T) {
	t.Parallel()
	log := crashtest.Watch(t)
	call, l := pairOf(t)
	var count atomic.Int64
	l.config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if count.Add(1) == 1 {
			panic("broken")
		}
		return nil, nil
	}
	acceptInBackground(t, l)
	if conn, err := call.Dial(t.Context(), l.Self()); err == nil {
		conn.Close()
		t.Error("the connection that panics: got no error")
	}
	conn, err := call.Dial(t.Context(), l.Self())
	if err != nil {
		t.Fatalf("the next connection: %v", err)
	}
	defer conn.Close()
	echo(t, conn)
	log.Until(1, "direct connection")
}
