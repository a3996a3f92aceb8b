package transfer_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/gatewaytest"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
	"fairlead/node/direct"
	nodetransfer "fairlead/node/transfer"
)

func TestMain(m *testing.M) {
	os.Setenv("FAIRLEAD_SECRETS", "file")
	os.Setenv("FAIRLEAD_TOKEN", "fl_transfer")
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if child != nil && child() {
		return
	}
	os.Exit(m.Run())
}

// child turns this process into a gateway or a node, if it was started as one.
var child func() bool

// testGateway is a real gateway with nodes over real sockets, each behind a wire that can be cut.
type testGateway struct {
	t       testing.TB
	home    string
	listen  string
	gw      *gateway.Gateway
	stopGW  func()
	nodes   map[protocol.NodeID]*machine
	c       *client.Client
	changes chan protocol.Transfer
}

// machine is a node.
type machine struct {
	dir    string
	home   string
	wire   *wire
	direct *direct.Connector // nil: everything goes through the gateway
	takes  nodetransfer.Policy
	stop   func()
}

// wire makes connections that can be cut.
type wire struct {
	mu    sync.Mutex // guards the fields below
	conns map[net.Conn]bool
	addr  string
	down  bool
	slow  throttle
	deaf  atomic.Bool // incoming data is lost, as when a machine dies before it reads it
}

// throttle slows down writes while it is on, to give a test time: 16 MiB a second at first, then so
// little that a test has many seconds.
type throttle struct {
	on      atomic.Bool
	written atomic.Int64 // since it was turned on
}

func (s *throttle) setOn(on bool) {
	s.written.Store(0)
	s.on.Store(on)
}

func (s *throttle) wait(n, first int) {
	if !s.on.Load() {
		return
	}
	rate := 16 << 20
	if s.written.Add(int64(n)) > int64(first) {
		rate = 2 << 20
	}
	time.Sleep(time.Duration(n) * time.Second / time.Duration(rate))
}

// slowConn is slow while its wire is.
type slowConn struct {
	net.Conn
	wire *wire
}

func (c slowConn) Write(p []byte) (int, error) {
	c.wire.slow.wait(len(p), 10<<20)
	return c.Conn.Write(p)
}

func (c slowConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.wire.deaf.Load() {
			return n, err
		}
	}
}

func (w *wire) dial(ctx context.Context) (net.Conn, error) {
	w.mu.Lock()
	addr, down := w.addr, w.down
	w.mu.Unlock()
	if down {
		return nil, errors.New("the wire is cut")
	}
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns[c] = true
	return slowConn{c, w}, nil
}

// disconnect closes every connection, and blocks new ones until up is called.
func (w *wire) disconnect(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
	for c := range w.conns {
		c.Close()
		delete(w.conns, c)
	}
}

func newTestGateway(t testing.TB, ids ...protocol.NodeID) *testGateway {
	t.Helper()
	r := &testGateway{t: t, home: t.TempDir(), listen: porttest.Free(t), nodes: make(map[protocol.NodeID]*machine), changes: make(chan protocol.Transfer, 1<<16)}
	r.start()
	for _, id := range ids {
		r.addNode(id)
	}
	ctx, cancel := context.WithCancel(context.Background())
	fed := make(chan struct{})
	var once sync.Once
	r.c = client.New(client.Options{URL: "ws://" + r.listen + "/ws", Token: "fl_transfer", Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", r.listen)
	}, Connect: func() protocol.ConnectParams { return gateway.ClientParams("test") }})
	var wg sync.WaitGroup
	wg.Go(func() { r.c.Run(ctx) })
	wg.Go(func() {
		r.c.Feed(ctx, func(s protocol.FeedSnapshot) {
			for _, tr := range s.Transfers {
				r.changes <- tr
			}
			once.Do(func() { close(fed) })
		}, func(c protocol.Change) {
			if c.Kind == protocol.ChangeTransfer {
				r.changes <- *c.Transfer
			}
		})
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	select {
	case <-fed:
	case <-time.After(3 * time.Minute):
		t.Fatal("no feed")
	}
	for _, id := range ids {
		r.waitOnline(id)
	}
	return r
}

// start starts the gateway, always on the same address.
func (r *testGateway) start() {
	r.t.Helper()
	r.gw, r.stopGW = gatewaytest.Start(r.t, r.home, r.listen)
}

func (r *testGateway) addNode(id protocol.NodeID) *machine {
	r.t.Helper()
	m := &machine{dir: r.t.TempDir(), home: r.t.TempDir(), wire: &wire{conns: make(map[net.Conn]bool), addr: r.listen}}
	r.nodes[id] = m
	r.startNode(id)
	r.t.Cleanup(func() { m.stop() })
	return m
}

func (r *testGateway) startNode(id protocol.NodeID) {
	r.t.Helper()
	m := r.nodes[id]
	n, err := node.New(node.Options{ID: id, Workspace: m.dir, Home: m.home, URL: "ws://" + r.listen + "/ws", Token: "fl_transfer", Dial: m.wire.dial, Direct: m.direct, Receive: m.takes, Version: "test"})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.Run(ctx)
	}()
	m.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
}

func (r *testGateway) waitOnline(id protocol.NodeID) {
	r.t.Helper()
	r.waitReconnected(id, 0)
}

// waitReconnected waits for a connection of a node that is newer than one of the time before.
func (r *testGateway) waitReconnected(id protocol.NodeID, before int64) {
	r.t.Helper()
	polltest.Until(r.t, string(id)+" is online", func() bool { return r.connectedAt(id) > before })
}

// connectedAt returns when a node connected, in Unix milliseconds; 0 while it is not.
func (r *testGateway) connectedAt(id protocol.NodeID) int64 {
	res, err := client.Call(r.t.Context(), r.c, protocol.NodesList, protocol.Empty{})
	if err != nil {
		return 0
	}
	for _, n := range res.Nodes {
		if n.ID == id && n.Online {
			return n.ConnectedAt
		}
	}
	return 0
}

func (r *testGateway) startTransfer(p protocol.TransferStartParams) protocol.Transfer {
	r.t.Helper()
	tr, err := client.Call(r.t.Context(), r.c, protocol.TransferStart, p)
	if err != nil {
		r.t.Fatal(err)
	}
	return tr
}

// waitTransfer waits until want accepts a transfer.
func (r *testGateway) waitTransfer(id protocol.TransferID, limit time.Duration, want func(protocol.Transfer) bool) protocol.Transfer {
	r.t.Helper()
	late := time.After(limit)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	var last protocol.Transfer
	for {
		select {
		case tr := <-r.changes:
			if tr.ID != id {
				continue
			}
			last = tr
			if want(tr) {
				return tr
			}
		case <-tick.C:
			if tr, err := client.Call(r.t.Context(), r.c, protocol.TransferGet, protocol.TransferParams{ID: id}); err == nil {
				last = tr
				if want(tr) {
					return tr
				}
			}
		case <-late:
			r.t.Fatalf("got %+v in time, want the awaited state", last)
		}
	}
}

func (r *testGateway) waitEnd(id protocol.TransferID, limit time.Duration) protocol.Transfer {
	r.t.Helper()
	return r.waitTransfer(id, limit, protocol.Transfer.Over)
}

// createFile creates a file of pseudo-random bytes in a node's workspace.
func (r *testGateway) createFile(id protocol.NodeID, name string, size int64) string {
	r.t.Helper()
	p := filepath.Join(r.nodes[id].dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		r.t.Fatal(err)
	}
	f, err := os.Create(p)
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.CopyN(f, &pseudoRandom{state: uint64(size) + 88172645463325252}, size); err != nil {
		r.t.Fatal(err)
	}
	return p
}

// pseudoRandom generates bytes with a long period.
type pseudoRandom struct{ state uint64 }

func (n *pseudoRandom) Read(p []byte) (int, error) {
	for i := 0; i < len(p); i += 8 {
		n.state ^= n.state << 13
		n.state ^= n.state >> 7
		n.state ^= n.state << 17
		for k := 0; k < 8 && i+k < len(p); k++ {
			p[i+k] = byte(n.state >> (8 * k))
		}
	}
	return len(p), nil
}
