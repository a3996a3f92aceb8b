package direct

import (
	"context"
	"io"
	"net"
	"net/netip"
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

// acceptInBackground waits for the source in the background. The returned function closes its
// connection.
func acceptInBackground(t *testing.T, l *listener) (ended func() error) {
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
	conn.SetDeadline(time.Now().Add(3 * time.Minute))
	if _, err := io.WriteString(conn, "hello"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 5)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Fatalf("got %q, error %v, want hello", got, err)
	}
}

func closeListener(t *testing.T, l *listener) {
	t.Helper()
	for _, at := range l.Self().Addresses {
		if conn, err := net.Dial("tcp", at); err == nil {
			conn.Close()
			t.Errorf("%s: got a connection, want a closed port", at)
		}
	}
}
