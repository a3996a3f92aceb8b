package transfer_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node/direct"
)

// patience is the time limit for a transfer on a busy machine.
const patience = time.Minute

// lan is a private network of this process. It counts its traffic, and it can be cut.
type lan struct {
	bytes  atomic.Int64
	dials  atomic.Int64
	limit  atomic.Int64 // bytes after which every connection is cut; 0 means never
	closed atomic.Bool  // nobody can connect
	slow   throttle
	asked  atomic.Int64 // how often a machine listed its networks
	divert string       // if set, the address that answers in place of the destination
}

func (l *lan) connector() *direct.Connector {
	return &direct.Connector{
		Networks: func() []netip.Prefix {
			l.asked.Add(1)
			return []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")}
		},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			l.dials.Add(1)
			if l.closed.Load() {
				return nil, errors.New("no route to host")
			}
			if l.divert != "" {
				address = l.divert
			}
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return lanConn{c, l}, nil
		},
	}
}

type lanConn struct {
	net.Conn
	lan *lan
}

func (c lanConn) Write(p []byte) (int, error) {
	c.lan.slow.wait(len(p), 4<<20)
	n, err := c.Conn.Write(p)
	if at := c.lan.bytes.Add(int64(n)); c.lan.limit.Load() > 0 && at > c.lan.limit.Load() {
		c.Close()
	}
	return n, err
}

// newNearGateway returns a gateway whose nodes are on one private network.
func newNearGateway(t testing.TB, l *lan, ids ...protocol.NodeID) *testGateway {
	t.Helper()
	r := newTestGateway(t)
	for _, id := range ids {
		m := &machine{dir: t.TempDir(), home: t.TempDir(), wire: &wire{conns: make(map[net.Conn]bool), addr: r.listen}, direct: l.connector()}
		r.nodes[id] = m
		r.startNode(id)
		t.Cleanup(func() { m.stop() })
		r.waitOnline(id)
	}
	return r
}

func (r *testGateway) checkSameContent(a, b string) {
	r.t.Helper()
	var sums [2][]byte
	for i, p := range []string{a, b} {
		f, err := os.Open(p)
		if err != nil {
			r.t.Fatal(err)
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			r.t.Fatal(err)
		}
		sums[i] = h.Sum(nil)
	}
	if string(sums[0]) != string(sums[1]) {
		r.t.Errorf("got %s, want the content of %s", b, a)
	}
}

func TestMachinesThatMayConnectDirectlyDo(t *testing.T) {
	var l lan
	r := newNearGateway(t, &l, "a", "b")
	from := r.createFile("a", "x.bin", 8<<20)
	tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, patience)
	if tr.State != protocol.TransferDone || tr.Route != protocol.RouteDirect || tr.BytesDone != 8<<20 || tr.Attempts != 1 {
		t.Errorf("got %+v, want it done directly in one attempt", tr)
	}
	if n := l.bytes.Load(); n < 8<<20 {
		t.Errorf("got %d bytes directly, want at least %d", n, 8<<20)
	}
	r.checkSameContent(from, filepath.Join(r.nodes["b"].dir, "y.bin"))
}

func TestMachinesThatDoNotReachEachOtherUseTheGateway(t *testing.T) {
	var l lan
	l.closed.Store(true)
	r := newNearGateway(t, &l, "a", "b")
	from := r.createFile("a", "x.bin", 5<<20)
	for _, name := range []string{"1", "2"} {
		t.Run(name, func(t *testing.T) {
			tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:" + name}).ID, patience)
			if tr.State != protocol.TransferDone || tr.Route != protocol.RouteRelay || tr.Attempts != 1 {
				t.Errorf("got %+v, want it done over the relay in one attempt", tr)
			}
			r.checkSameContent(from, filepath.Join(r.nodes["b"].dir, name))
		})
	}
	if n := l.dials.Load(); n != 1 {
		t.Errorf("got %d tries, want 1, because the next transfer need not try", n)
	}
}

func TestBrokenDirectTransferContinuesOverTheGateway(t *testing.T) {
	var l lan
	l.limit.Store(6 << 20)
	r := newNearGateway(t, &l, "a", "b")
	from := r.createFile("a", "x.bin", 16<<20)
	r.createFile("a", "d/small", 10)
	r.createFile("a", "d/large", 1<<20)
	tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:d", "a:x.bin"}, Destination: "b:in"}).ID, patience)
	if tr.State != protocol.TransferDone || tr.Route != protocol.RouteRelay || tr.Attempts != 2 || tr.FilesDone != 3 {
		t.Errorf("got %+v, want 3 files over the relay in the second attempt", tr)
	}
	r.checkSameContent(from, filepath.Join(r.nodes["b"].dir, "in", "x.bin"))
	if list, err := filepath.Glob(filepath.Join(r.nodes["b"].dir, "in", ".*")); err != nil || len(list) > 0 {
		t.Errorf("got leftovers %v, error %v, want none", list, err)
	}
}

func TestNoPortIsOpenedUnlessBothOwnersWantIt(t *testing.T) {
	var l lan
	r := newNearGateway(t, &l, "a")
	r.addNode("b")
	r.waitOnline("b")
	for _, way := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", "a"}} {
		name := "x-" + way[0] + way[1]
		from := r.createFile(protocol.NodeID(way[0]), name, 3<<20)
		to := way[1] + ":got-" + name
		tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{way[0] + ":" + name}, Destination: to}).ID, patience)
		if tr.State != protocol.TransferDone || tr.Route != protocol.RouteRelay {
			t.Errorf("got %+v, want it done over the relay", tr)
		}
		r.checkSameContent(from, filepath.Join(r.nodes[protocol.NodeID(way[1])].dir, "got-"+name))
	}
	if l.asked.Load() > 0 || l.dials.Load() > 0 {
		t.Errorf("got %d ports, %d connections, want none", l.asked.Load(), l.dials.Load())
	}
}

// startDirect starts a transfer and waits until it runs directly, and slowly.
func (r *testGateway) startDirect(l *lan, p protocol.TransferStartParams) protocol.Transfer {
	r.t.Helper()
	l.slow.setOn(true)
	tr := r.waitTransfer(r.startTransfer(p).ID, patience, func(t protocol.Transfer) bool { return t.BytesDone > 2<<20 })
	if tr.State != protocol.TransferRunning || tr.Route != protocol.RouteDirect {
		r.t.Fatalf("got %+v, want it running directly", tr)
	}
	return tr
}

func TestDirectTransferResumes(t *testing.T) {
	const size = 12 << 20
	var l lan
	r := newNearGateway(t, &l, "a", "b")
	for _, c := range []struct {
		name string
		rest func(protocol.Transfer)
	}{
		{"paused", func(tr protocol.Transfer) {
			now, err := client.Call(t.Context(), r.c, protocol.TransferPause, protocol.TransferParams{ID: tr.ID})
			if err != nil || now.State != protocol.TransferPaused {
				t.Fatalf("got %+v, error %v, want it paused", now, err)
			}
			if _, err := client.Call(t.Context(), r.c, protocol.TransferResume, protocol.TransferParams{ID: tr.ID}); err != nil {
				t.Fatal(err)
			}
		}},
		{"source", func(protocol.Transfer) { r.nodes["a"].wire.disconnect(false) }},
		{"destination", func(protocol.Transfer) { r.nodes["b"].wire.disconnect(false) }},
		{"gateway", func(protocol.Transfer) {
			r.stopGW()
			r.start()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := r.createFile("a", c.name, size)
			before := l.bytes.Load()
			tr := r.startDirect(&l, protocol.TransferStartParams{Sources: []string{"a:" + c.name}, Destination: "b:" + c.name})
			c.rest(tr)
			l.slow.setOn(false)
			tr = r.waitEnd(tr.ID, patience)
			if tr.State != protocol.TransferDone || tr.Route != protocol.RouteDirect || tr.Attempts != 2 {
				t.Errorf("%s: got %+v, want it done directly in the second attempt", c.name, tr)
			}
			if n := l.bytes.Load() - before; n < size || n > size+4<<20 {
				t.Errorf("%s: got %d bytes directly, want %d and at most 4 MiB more", c.name, n, size)
			}
			r.checkSameContent(from, filepath.Join(r.nodes["b"].dir, c.name))
		})
	}
}

func TestCancelledDirectTransferLeavesNothing(t *testing.T) {
	var l lan
	r := newNearGateway(t, &l, "a", "b")
	r.createFile("a", "x.bin", 16<<20)
	r.cancelAndWait(r.startDirect(&l, protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}))
}

// cancelAndWait cancels a transfer to b, and waits until its unfinished files are gone.
func (r *testGateway) cancelAndWait(tr protocol.Transfer) {
	r.t.Helper()
	r.cancel(tr)
	r.waitRemoved()
}

func (r *testGateway) cancel(tr protocol.Transfer) {
	r.t.Helper()
	now, err := client.Call(r.t.Context(), r.c, protocol.TransferCancel, protocol.TransferParams{ID: tr.ID})
	if err != nil || now.State != protocol.TransferCancelled {
		r.t.Fatalf("got %+v, error %v, want it cancelled", now, err)
	}
}

// waitRemoved waits until b has no unfinished files.
func (r *testGateway) waitRemoved() {
	r.t.Helper()
	var left []os.DirEntry
	var err error
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if left, err = os.ReadDir(r.nodes["b"].dir); err == nil && len(left) == 0 {
			return
		}
	}
	r.t.Errorf("got leftovers %v, error %v, want none", left, err)
}

// TestManInTheMiddleGetsNothing: another machine answers in place of the destination, with a
// certificate of its own.
func TestManInTheMiddleGetsNothing(t *testing.T) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	middle, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, ClientAuth: tls.RequestClientCert,
		NextProtos: []string{"fairlead-transfer"},
	})
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan int64, 1)
	go func() {
		n := int64(0)
		defer func() { heard <- n }()
		for {
			c, err := middle.Accept()
			if err != nil {
				return
			}
			k, _ := io.Copy(io.Discard, c)
			n += k
			c.Close()
		}
	}()
	l := lan{divert: middle.Addr().String()}
	r := newNearGateway(t, &l, "a", "b")
	from := r.createFile("a", "x.bin", 3<<20)
	tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, patience)
	if tr.State != protocol.TransferDone || tr.Route != protocol.RouteRelay || l.dials.Load() != 1 {
		t.Errorf("got %+v after %d dials, want it done over the relay after 1", tr, l.dials.Load())
	}
	r.checkSameContent(from, filepath.Join(r.nodes["b"].dir, "y.bin"))
	middle.Close()
	if n := <-heard; n > 0 {
		t.Errorf("got %d bytes at the one in the middle, want none", n)
	}
}
