package transfer_test

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"testing"
	"time"

	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node/direct"
)

// newJoined returns a rig whose gateway listens for other machines, and joins connections that go
// over l. With near, the nodes also connect directly.
func newJoined(t testing.TB, l *lan, near *lan, ids ...protocol.NodeID) (r *rig, at string) {
	t.Helper()
	r, at = newRig(t), porttest.Free(t)
	r.network(at, true)
	for _, id := range ids {
		c := &direct.Connector{Alone: true}
		if near != nil {
			c = near.connector()
		}
		c.Beside = func(ctx context.Context) (net.Conn, error) { return l.connector().DialContext(ctx, "tcp", at) }
		m := &machine{dir: t.TempDir(), home: t.TempDir(), wire: &wire{conns: make(map[net.Conn]bool), addr: r.listen}, direct: c}
		r.nodes[id] = m
		r.boot(id)
		t.Cleanup(func() { m.stop() })
		r.online(id)
	}
	return r, at
}

// network turns the gateway's listener for other machines on or off.
func (r *rig) network(at string, on bool) {
	r.t.Helper()
	where, _ := json.Marshal(at)
	enabled, _ := json.Marshal(on)
	for _, p := range []protocol.ConfigSetParams{{Path: "network.listen", Value: where}, {Path: "network.enabled", Value: enabled}} {
		if _, err := client.Call(r.t.Context(), r.c, protocol.ConfigSet, p); err != nil {
			r.t.Fatal(err)
		}
	}
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			if on {
				return
			}
		} else if !on {
			return
		}
	}
	r.t.Fatal("the listener is not as it was told")
}

// sizeable is the size of a file that uses a separate connection. Until the ends are connected,
// data goes slowly as messages, so that most of it remains.
const sizeable = 64 << 20

func (r *rig) slowMessages(from protocol.NodeID) { r.nodes[from].wire.slow.turn(true) }

func TestALargeFileHasAConnectionOfItsOwnThroughTheGateway(t *testing.T) {
	var l lan
	r, _ := newJoined(t, &l, nil, "a", "b")
	r.slowMessages("a")
	from := r.file("a", "x.bin", sizeable)
	r.file("a", "small", 1<<20)
	tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, patience)
	if tr.State != protocol.TransferDone || tr.Route != protocol.RouteRelay || tr.BytesDone != sizeable || tr.Attempts != 1 {
		t.Errorf("%+v", tr)
	}
	if n := l.bytes.Load(); n < sizeable/2 {
		t.Errorf("%d bytes of %d went over the connection", n, sizeable)
	}
	r.same(from, filepath.Join(r.nodes["b"].dir, "y.bin"))
	if n := l.dials.Load(); n != 2 {
		t.Errorf("%d connections were made, not one by each end", n)
	}
	tr = r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:small"}, Destination: "b:small"}).ID, patience)
	if tr.State != protocol.TransferDone || l.dials.Load() != 2 {
		t.Errorf("%+v: a small file is not worth a connection, %d were made", tr, l.dials.Load())
	}
}

// slowly starts a transfer that uses its separate connection, slowly.
func (r *rig) slowly(l *lan, name string) protocol.Transfer {
	r.t.Helper()
	l.slow.turn(true)
	before := l.bytes.Load()
	tr := r.begin(protocol.TransferStartParams{Sources: []string{"a:" + name}, Destination: "b:" + name})
	for end := time.Now().Add(3 * time.Minute); l.bytes.Load() < before+2<<20; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatal("it has no connection of its own")
		}
	}
	return tr
}

func TestAJoinedTransferRestsAndGoesOn(t *testing.T) {
	const size = 32 << 20
	var l lan
	r, _ := newJoined(t, &l, nil, "a", "b")
	for _, c := range []struct {
		name string
		rest func(protocol.Transfer)
	}{
		{"paused", func(tr protocol.Transfer) {
			if _, err := client.Call(t.Context(), r.c, protocol.TransferPause, protocol.TransferParams{ID: tr.ID}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Call(t.Context(), r.c, protocol.TransferResume, protocol.TransferParams{ID: tr.ID}); err != nil {
				t.Fatal(err)
			}
		}},
		{"source", func(protocol.Transfer) { r.nodes["a"].wire.cut(false) }},
		{"destination", func(protocol.Transfer) { r.nodes["b"].wire.cut(false) }},
		{"gateway", func(protocol.Transfer) {
			r.stopGW()
			r.start()
		}},
	} {
		from := r.file("a", c.name, size)
		tr := r.slowly(&l, c.name)
		c.rest(tr)
		l.slow.turn(false)
		tr = r.end(tr.ID, patience)
		if tr.State != protocol.TransferDone || tr.Attempts != 2 {
			t.Errorf("%s: %+v", c.name, tr)
		}
		r.same(from, filepath.Join(r.nodes["b"].dir, c.name))
	}
}

func TestACutOfTheConnectionGoesOnAsMessages(t *testing.T) {
	var l lan
	l.limit.Store(10 << 20)
	r, _ := newJoined(t, &l, nil, "a", "b")
	for _, name := range []string{"first", "next"} {
		from := r.file("a", name, 48<<20)
		tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:" + name}, Destination: "b:" + name}).ID, patience)
		if tr.State != protocol.TransferDone || tr.Route != protocol.RouteRelay || tr.Attempts != 1 || tr.Skipped != 0 {
			t.Errorf("%+v", tr)
		}
		r.same(from, filepath.Join(r.nodes["b"].dir, name))
		if n := l.dials.Load(); n != 2 {
			t.Errorf("%d connections were made: one that did not last is not tried again at once", n)
		}
	}
	if list, err := filepath.Glob(filepath.Join(r.nodes["b"].dir, ".*")); err != nil || len(list) > 0 {
		t.Errorf("%v is left, %v", list, err)
	}
}

func TestEndsThatReachNoJunctionSendMessages(t *testing.T) {
	var l lan
	l.closed.Store(true)
	r, _ := newJoined(t, &l, nil, "a", "b")
	from := r.file("a", "x.bin", 20<<20)
	tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, patience)
	if tr.State != protocol.TransferDone || tr.Attempts != 1 || l.dials.Load() == 0 {
		t.Errorf("%+v after %d tries", tr, l.dials.Load())
	}
	r.same(from, filepath.Join(r.nodes["b"].dir, "y.bin"))
}

func TestMachinesThatDoNotReachEachOtherAreJoined(t *testing.T) {
	var l, near lan
	near.closed.Store(true)
	r, _ := newJoined(t, &l, &near, "a", "b")
	for _, name := range []string{"1", "2"} {
		r.slowMessages("a")
		from := r.file("a", name, sizeable)
		before := l.bytes.Load()
		tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:" + name}, Destination: "b:" + name}).ID, patience)
		if tr.State != protocol.TransferDone || tr.Route != protocol.RouteRelay || tr.Attempts != 1 || near.dials.Load() != 1 {
			t.Errorf("%+v, tried %d times", tr, near.dials.Load())
		}
		if n := l.bytes.Load() - before; n < sizeable/2 {
			t.Errorf("%d bytes of %d went over the connection", n, sizeable)
		}
		r.same(from, filepath.Join(r.nodes["b"].dir, name))
	}
}

func TestMachinesThatReachEachOtherAreNotJoined(t *testing.T) {
	var l, near lan
	r, _ := newJoined(t, &l, &near, "a", "b")
	from := r.file("a", "x.bin", 20<<20)
	tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, patience)
	if tr.State != protocol.TransferDone || tr.Route != protocol.RouteDirect || near.bytes.Load() < 20<<20 || l.bytes.Load() > 1<<10 {
		t.Errorf("%+v, %d bytes straight, %d joined", tr, near.bytes.Load(), l.bytes.Load())
	}
	r.same(from, filepath.Join(r.nodes["b"].dir, "y.bin"))
}

func TestACancelledJoinedTransferLeavesNothing(t *testing.T) {
	var l lan
	r, _ := newJoined(t, &l, nil, "a", "b")
	r.file("a", "x.bin", 32<<20)
	r.cancelled(r.slowly(&l, "x.bin"))
}

// TestNothingIsJoinedWhileTheGatewayListensForNobody turns the listener off.
func TestNothingIsJoinedWhileTheGatewayListensForNobody(t *testing.T) {
	var l lan
	r, at := newJoined(t, &l, nil, "a", "b")
	r.network(at, false)
	from := r.file("a", "x.bin", 20<<20)
	tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"}).ID, patience)
	if tr.State != protocol.TransferDone || l.dials.Load() > 0 {
		t.Errorf("%+v after %d tries", tr, l.dials.Load())
	}
	r.same(from, filepath.Join(r.nodes["b"].dir, "y.bin"))
}
