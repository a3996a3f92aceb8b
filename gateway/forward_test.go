package gateway_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/gatewaytest"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/protocol/forward"
	"fairlead/node"
)

// forwarding is a gateway with the paired machine laptop.
type forwarding struct {
	*accessGateway
	machine *pairedMachine
	peer    identity.PeerID
	home    string // the machine's data folder
	stop    func() // stops the machine
}

func newForwarding(t testing.TB) *forwarding {
	h := newAccessGateway(t)
	f := &forwarding{accessGateway: h, machine: newMachine(t, "laptop"), home: t.TempDir()}
	f.peer = h.pairByLink(f.machine, h.nodeDevice(f.machine, node.Confinement{})).ID()
	f.start(nil)
	return f
}

// start starts the machine, whose person answers with ask.
func (f *forwarding) start(ask func(context.Context, string) (bool, error)) {
	f.t.Helper()
	n, err := node.New(node.Options{
		ID: "laptop", Workspace: f.machine.work, Version: "test", Home: f.home, AskTarget: ask,
		Through: func(o client.Options) client.Options {
			return client.Through(o, f.machine.peers, f.peer, f.machine.id, nil)
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.Run(ctx)
	}()
	f.stop = sync.OnceFunc(func() { cancel(); <-done })
	f.t.Cleanup(f.stop)
	f.until("the machine is online", func() bool { return f.info("laptop").Online })
}

// opened is a forward with what it reported.
type opened struct {
	address string
	ended   chan error
	info    chan protocol.Forward // each time it was opened
	failed  chan error            // failed connections
	close   func()
}

// forward opens a forward as the owner at this computer, or with the options of another client.
func (f *forwarding) forward(target string, with ...client.Options) *opened {
	f.t.Helper()
	o := client.Options{URL: f.gw.URL(), Token: "gateway-token-of-the-test"}
	if len(with) > 0 {
		o = with[0]
	}
	if o.Connect == nil {
		o.Connect = func() protocol.ConnectParams { return gateway.ClientParams("cli") }
	}
	w := &opened{ended: make(chan error, 1), info: make(chan protocol.Forward, 8), failed: make(chan error, 100)}
	l, err := forward.Listen(forward.Options{
		Client: o, Node: "laptop", Target: target,
		OnOpen: func(i protocol.Forward) { w.info <- i }, OnError: func(err error) { w.failed <- err },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	w.address = l.Address()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.ended <- l.Run(ctx)
	}()
	w.close = sync.OnceFunc(func() { cancel(); <-done })
	f.t.Cleanup(w.close)
	return w
}

// dial connects to the local port of a forward.
func (w *opened) dial(t testing.TB) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", w.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(3 * time.Minute))
	return c.(*net.TCPConn)
}

// fail connects to the local port of a forward, and checks that the connection is aborted.
func (w *opened) fail(t testing.TB) {
	t.Helper()
	c, err := net.Dial("tcp", w.address)
	if err != nil {
		return // aborted at once
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(3 * time.Minute))
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a connection that fails: got %v, want an error that is no end", err)
	}
}

// serveTCP serves each connection with f on a port of this computer.
func serveTCP(t testing.TB, f func(*net.TCPConn)) (target string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				f(c.(*net.TCPConn))
			}()
		}
	}()
	return l.Addr().String()
}

// echoAtEnd sends back what it gets, once it has got everything.
func echoAtEnd(c *net.TCPConn) {
	data, _ := io.ReadAll(c)
	c.Write(data)
}

// echoes checks that a connection to echoAtEnd works.
func echoes(t testing.TB, c *net.TCPConn, text string) error {
	t.Helper()
	io.WriteString(c, text)
	c.CloseWrite()
	got, err := io.ReadAll(c)
	if err == nil && string(got) != text {
		err = fmt.Errorf("got %q, want %q", got, text)
	}
	return err
}

func (f *forwarding) forwards() []protocol.Forward {
	f.t.Helper()
	return ask(f.accessGateway, protocol.ForwardList, protocol.Empty{}).Forwards
}

func TestForwardLeadsToAPortOfTheMachine(t *testing.T) {
	f := newForwarding(t)
	w := f.forward(serveTCP(t, echoAtEnd))
	info := receiveFrom(t, w.info)
	data := make([]byte, 5<<20)
	rand.Read(data)
	c := w.dial(t)
	go func() {
		c.Write(data)
		c.CloseWrite()
	}()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("5 MiB there and back: got %d bytes, %v", len(got), err)
	}
	f.until("the connection is counted", func() bool { return f.forwards()[0].Connections == 0 })
	now := f.forwards()[0]
	want := info
	want.Total, want.Sent, want.Received, want.LastUsedAt = 1, int64(len(data)), int64(len(data)), now.LastUsedAt
	if now != want || now.LastUsedAt < now.Since || now.Node != "laptop" || now.Listen != w.address || now.By != "owner cli" || now.Client != "cli" || now.Address != "127.0.0.1" || now.ID == "" {
		t.Errorf("forward.list: got %+v, want %+v of the owner's cli", now, want)
	}
	w.close()
	f.until("the forward is gone", func() bool { return len(f.forwards()) == 0 })
	f.until("both lines are in the audit log", func() bool { return len(f.auditLines()) == 2 })
	lines := f.auditLines()
	if lines[1].What != "opened a forward to laptop:"+info.Target || lines[1].By != "owner cli" || lines[1].Node != "laptop" ||
		!strings.HasPrefix(lines[0].What, "closed the forward to laptop:"+info.Target+" after ") || !strings.HasSuffix(lines[0].What, ": 1 connections, 5.2 MB sent, 5.2 MB received") {
		t.Errorf("audit log: got %+v", lines)
	}
}

func (f *forwarding) auditLines() []protocol.AuditEntry {
	f.t.Helper()
	return slices.DeleteFunc(ask(f.accessGateway, protocol.AuditList, protocol.AuditListParams{}).Entries, func(e protocol.AuditEntry) bool { return e.Kind != protocol.AuditForward })
}

// receiveFrom returns the next value of a channel.
func receiveFrom[T any](t testing.TB, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(3 * time.Minute):
		t.Fatal("nothing arrived")
	}
	return v
}

func TestForwardThatIsClosedEndsItsConnections(t *testing.T) {
	f := newForwarding(t)
	targetEnded := make(chan error, 1)
	w := f.forward(serveTCP(t, func(c *net.TCPConn) {
		io.WriteString(c, "hello")
		_, err := io.Copy(io.Discard, c)
		targetEnded <- err
	}))
	info := receiveFrom(t, w.info)
	c := w.dial(t)
	if _, err := io.ReadFull(c, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	ask(f.accessGateway, protocol.ForwardClose, protocol.ForwardParams{ID: info.ID})
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the client's connection: got %v, want an error that is no end", err)
	}
	receiveFrom(t, targetEnded)
	if err := receiveFrom(t, w.ended); !errors.Is(err, forward.ErrClosed) {
		t.Errorf("Run: got %v, want ErrClosed", err)
	}
	if took := time.Since(began); took > 20*time.Second { // ten times what it may take, for busy machines
		t.Errorf("it took %s, want at most 2 s", took)
	}
	if _, err := client.Call(t.Context(), f.owner, protocol.ForwardClose, protocol.ForwardParams{ID: info.ID}); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("closed again: got %v, want ErrNotFound", err)
	}
	f.until("the line is in the audit log", func() bool { l := f.auditLines(); return len(l) == 2 && l[0].By == "owner this computer" })
}

func TestForwardNeedsAMachineATargetAndRights(t *testing.T) {
	f := newForwarding(t)
	token := func(scopes []protocol.Scope, nodes ...protocol.NodeID) client.Options {
		made := ask(f.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "app", Scopes: scopes, Nodes: nodes})
		return client.Options{URL: f.gw.URL(), Token: made.Token}
	}
	phone := newMachine(t, "phone")
	peer := f.pairByLink(phone, phone.device(protocol.RoleClient))
	device := client.Through(client.Options{}, phone.peers, peer.ID(), phone.id, nil)
	reader := newMachine(t, "reader")
	readerPeer := f.pairByLink(reader, reader.device(protocol.RoleClient))
	ask(f.accessGateway, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: readerPeer.Device, Scopes: &[]protocol.Scope{protocol.ScopeRead}})
	_, _, leave := gsvNode(t, client.Options{URL: f.gw.URL(), Token: "gateway-token-of-the-test"}, "tower")
	defer leave()
	target := serveTCP(t, echoAtEnd)
	for _, c := range []struct {
		name, target string
		o            client.Options
		want         error
	}{
		{"a wrong token", target, client.Options{URL: f.gw.URL(), Token: "wrong"}, protocol.ErrUnauthorized},
		{"an app without the scope", target, token(protocol.UsualAppScopes), protocol.ErrForbidden},
		{"an app with the scope for another machine", target, token([]protocol.Scope{protocol.ScopeForward}, "tower"), protocol.ErrForbidden},
		{"an app with the scope", target, token([]protocol.Scope{protocol.ScopeForward}), nil},
		{"an app with the scope for this machine", target, token([]protocol.Scope{protocol.ScopeForward}, "laptop"), nil},
		{"the owner in this process", target, client.Options{URL: "ws://memory/ws", Dial: f.gw.Dial}, nil},
		{"a device that may do everything", target, device, nil},
		{"a device that may only read", target, client.Through(client.Options{}, reader.peers, readerPeer.ID(), reader.id, nil), protocol.ErrForbidden},
		{"a target without a port", "localhost", client.Options{URL: f.gw.URL(), Token: "gateway-token-of-the-test"}, protocol.ErrBadRequest},
		{"port 0", "localhost:0", client.Options{URL: f.gw.URL(), Token: "gateway-token-of-the-test"}, protocol.ErrBadRequest},
	} {
		w := f.forward(c.target, c.o)
		if c.want != nil {
			if err := receiveFrom(t, w.ended); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", c.name, err, c.want)
			}
			continue
		}
		select {
		case <-w.info:
			if err := echoes(t, w.dial(t), "hello"); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		case err := <-w.ended:
			t.Errorf("%s: got %v, want a forward", c.name, err)
		}
		w.close()
	}
	f.until("the forwards are gone", func() bool { return len(f.forwards()) == 0 })
	f.stop()
	f.until("the machine is offline", func() bool { return !f.info("laptop").Online })
	if err := receiveFrom(t, f.forward(target).ended); !errors.Is(err, protocol.ErrUnavailable) || err.Error() != "laptop is offline" {
		t.Errorf("an offline machine: got %v", err)
	}
}

func TestForwardEndsWithTheRightsOfItsOwner(t *testing.T) {
	f := newForwarding(t)
	target := serveTCP(t, func(c *net.TCPConn) { io.Copy(c, c) })
	made := ask(f.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "app", Scopes: []protocol.Scope{protocol.ScopeForward}})
	app := f.forward(target, client.Options{URL: f.gw.URL(), Token: made.Token})
	receiveFrom(t, app.info)
	ask(f.accessGateway, protocol.AppRevoke, protocol.AppParams{ID: made.App.ID})
	if err := receiveFrom(t, app.ended); !errors.Is(err, forward.ErrClosed) {
		t.Errorf("a revoked app: got %v, want ErrClosed", err)
	}
	phone := newMachine(t, "phone")
	peer := f.pairByLink(phone, phone.device(protocol.RoleClient))
	w := f.forward(target, client.Through(client.Options{}, phone.peers, peer.ID(), phone.id, nil))
	receiveFrom(t, w.info)
	c := w.dial(t)
	pass(t, c)
	ask(f.accessGateway, protocol.DeviceRevoke, protocol.DeviceParams{ID: peer.Device})
	if err := receiveFrom(t, w.ended); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("a revoked device: got %v, want ErrUnauthorized", err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection of a revoked device goes on")
	}
}

func TestMachineDecidesWhatIsDialled(t *testing.T) {
	f := newForwarding(t)
	lan := nonLoopback(t)
	l, err := net.Listen("tcp", net.JoinHostPort(lan, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	target := l.Addr().String()
	w := f.forward(target)
	receiveFrom(t, w.info)
	w.fail(t)
	if err := receiveFrom(t, w.failed); !strings.Contains(err.Error(), "run there: fairlead node allow "+target) {
		t.Errorf("a target that nobody allowed: got %v", err)
	}
	f.stop()
	f.until("the machine is offline", func() bool { return !f.info("laptop").Online })
	var asked []string
	f.start(func(_ context.Context, target string) (bool, error) {
		asked = append(asked, target)
		return true, nil
	})
	for range 2 {
		if _, err := w.dial(t).Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a target that the person allowed: got %v, want EOF", err)
		}
	}
	if !slices.Equal(asked, []string{target}) {
		t.Errorf("questions: got %q, want one about %s", asked, target)
	}
	if stored, err := filepath.Glob(filepath.Join(f.home, "targets.txt")); err != nil || len(stored) != 1 {
		t.Errorf("the answer is not stored on the machine: %v, %v", stored, err)
	}
}

// nonLoopback returns an address of this computer that is not loopback.
func nonLoopback(t *testing.T) string {
	t.Helper()
	list, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Skip("this computer has no address besides loopback")
	return ""
}

func TestTargetThatDoesNotAnswerIsNamed(t *testing.T) {
	f := newForwarding(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := l.Addr().String()
	l.Close()
	w := f.forward(target)
	receiveFrom(t, w.info)
	w.fail(t)
	if err := receiveFrom(t, w.failed); !strings.HasPrefix(err.Error(), target+" does not answer: ") {
		t.Errorf("got %v", err)
	}
}

func TestForwardGoesOnAfterARestartOfTheMachine(t *testing.T) {
	f := newForwarding(t)
	w := f.forward(serveTCP(t, func(c *net.TCPConn) { io.Copy(c, c) }))
	receiveFrom(t, w.info)
	c := w.dial(t)
	pass(t, c)
	f.stop()
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the connection over a machine that stopped: got %v, want an error that is no end", err)
	}
	f.until("the machine is offline", func() bool { return !f.info("laptop").Online })
	w.fail(t)
	if err := receiveFrom(t, w.failed); err.Error() != "laptop is offline" {
		t.Errorf("meanwhile: got %v", err)
	}
	f.start(nil)
	one, other := w.dial(t), w.dial(t) // both need the tunnel that is not open yet
	pass(t, one)
	pass(t, other)
}

// pass passes a byte through a connection that sends back what it gets.
func pass(t testing.TB, c net.Conn) {
	t.Helper()
	io.WriteString(c, "x")
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

func TestForwardGoesOnAfterARestartOfTheGateway(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "gateway-token-of-the-test")
	home, address := t.TempDir(), "127.0.0.1:0"
	open := func() (gw *gateway.Gateway, stop func()) {
		gw, stop = gatewaytest.Start(t, home, address)
		address = strings.TrimSuffix(strings.TrimPrefix(gw.URL(), "ws://"), "/ws")
		return gw, stop
	}
	gw, stop := open()
	defer func() { stop() }()
	n, err := node.New(node.Options{ID: "laptop", Workspace: t.TempDir(), URL: gw.URL(), Token: "gateway-token-of-the-test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { n.Run(ctx) })
	o := client.Options{URL: gw.URL(), Token: "gateway-token-of-the-test", Connect: func() protocol.ConnectParams { return gateway.ClientParams("cli") }}
	c := client.New(o)
	wg.Go(func() { c.Run(ctx) })
	online := func() bool {
		r, err := client.Call(ctx, c, protocol.NodesList, protocol.Empty{})
		return err == nil && len(r.Nodes) == 1 && r.Nodes[0].Online
	}
	polltest.Until(t, "the machine is online", online)
	infos := make(chan protocol.Forward, 8)
	l, err := forward.Listen(forward.Options{Client: o, Node: "laptop", Target: serveTCP(t, echoAtEnd), OnOpen: func(i protocol.Forward) { infos <- i }})
	if err != nil {
		t.Fatal(err)
	}
	wg.Go(func() { l.Run(ctx) })
	receiveFrom(t, infos)
	w := &opened{address: l.Address()}
	if err := echoes(t, w.dial(t), "before"); err != nil {
		t.Error(err)
	}
	stop()
	_, stop = open()
	receiveFrom(t, infos)
	if err := echoes(t, w.dial(t), "after"); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

func TestStalledReadersHoldNobodyUp(t *testing.T) {
	f := newForwarding(t)
	const size = 8 << 20
	w := f.forward(serveTCP(t, func(c *net.TCPConn) { io.Copy(c, io.LimitReader(zeros{}, size)) }))
	receiveFrom(t, w.info)
	for range 80 {
		c := w.dial(t)
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := io.Copy(io.Discard, w.dial(t)); err != nil || n != size {
		t.Errorf("beside 80 stalled readers: got %d bytes, %v, want %d", n, err, size)
	}
	if got := f.forwards()[0].Connections; got < 80 {
		t.Errorf("connections: got %d, want at least 80", got)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
