package transfer_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/direct"
)

// lan is a private network of this process: what goes over it is counted, and it can be cut.
type lan struct {
	bytes  atomic.Int64
	dials  atomic.Int64
	limit  atomic.Int64 // after so many bytes every connection is cut; 0 is never
	closed atomic.Bool  // nobody reaches anybody
	slow   atomic.Bool
	mu     sync.Mutex
	conns  []net.Conn
}

func (l *lan) connector() *direct.Connector {
	return &direct.Connector{
		Networks: func() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")} },
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			l.dials.Add(1)
			if l.closed.Load() {
				return nil, errors.New("no route to host")
			}
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.conns = append(l.conns, c)
			return lanConn{c, l}, nil
		},
	}
}

type lanConn struct {
	net.Conn
	lan *lan
}

func (c lanConn) Write(p []byte) (int, error) {
	if c.lan.slow.Load() {
		time.Sleep(time.Duration(len(p)) * time.Second / (16 << 20))
	}
	n, err := c.Conn.Write(p)
	if at := c.lan.bytes.Add(int64(n)); c.lan.limit.Load() > 0 && at > c.lan.limit.Load() {
		c.Close()
	}
	return n, err
}

// newNear is a rig whose machines are on one private network.
func newNear(t testing.TB, l *lan, ids ...protocol.NodeID) *rig {
	t.Helper()
	r := newRig(t)
	for _, id := range ids {
		m := &machine{dir: t.TempDir(), wire: &wire{conns: make(map[net.Conn]bool), addr: r.listen}, direct: l.connector()}
		r.nodes[id] = m
		r.boot(id)
		t.Cleanup(func() { m.stop() })
		r.online(id)
	}
	return r
}

func (r *rig) same(a, b string) {
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
		r.t.Errorf("%s is not %s", b, a)
	}
}

func TestMachinesThatMayConnectDirectlyDo(t *testing.T) {
	var l lan
	r := newNear(t, &l, "a", "b")
	from := r.file("a", "x.bin", 20<<20)
	tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, 20*time.Second)
	if tr.State != protocol.TransferDone || tr.Route != protocol.RouteDirect || tr.BytesDone != 20<<20 || tr.Attempts != 1 {
		t.Errorf("%+v", tr)
	}
	if n := l.bytes.Load(); n < 20<<20 {
		t.Errorf("%d bytes went directly", n)
	}
	r.same(from, filepath.Join(r.nodes["b"].dir, "y.bin"))
}

func TestMachinesThatDoNotReachEachOtherUseTheGateway(t *testing.T) {
	var l lan
	l.closed.Store(true)
	r := newNear(t, &l, "a", "b")
	from := r.file("a", "x.bin", 5<<20)
	for _, name := range []string{"1", "2"} {
		tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:" + name}).ID, 20*time.Second)
		if tr.State != protocol.TransferDone || tr.Route != protocol.RouteRelay || tr.Attempts != 1 {
			t.Errorf("%+v", tr)
		}
		r.same(from, filepath.Join(r.nodes["b"].dir, name))
	}
	if n := l.dials.Load(); n != 1 {
		t.Errorf("it was tried %d times: once they were apart, the next transfer need not try", n)
	}
}

func TestACutInTheMiddleGoesOnThroughTheGateway(t *testing.T) {
	var l lan
	l.limit.Store(24 << 20)
	r := newNear(t, &l, "a", "b")
	from := r.file("a", "x.bin", 48<<20)
	r.file("a", "d/small", 10)
	r.file("a", "d/large", 1<<20)
	tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:d", "a:x.bin"}, Destination: "b:in"}).ID, 30*time.Second)
	if tr.State != protocol.TransferDone || tr.Route != protocol.RouteRelay || tr.Attempts != 1 || tr.FilesDone != 3 || tr.Skipped != 0 {
		t.Errorf("%+v", tr)
	}
	r.same(from, filepath.Join(r.nodes["b"].dir, "in", "x.bin"))
	if list, err := filepath.Glob(filepath.Join(r.nodes["b"].dir, "in", ".*")); err != nil || len(list) > 0 {
		t.Errorf("%v is left, %v", list, err)
	}
}
