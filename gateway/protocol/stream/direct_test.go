package stream

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// strand is a direct connection whose bytes from the source can be cut or lost after some of them.
type strand struct {
	unreachable bool
	cutAfter    int64 // bytes of the source; 0: never
	lostAfter   int64 // bytes of the source; what follows arrives nowhere, and no end is told
	deafAfter   int64 // the same of the destination's bytes
	dialed      chan net.Conn
	carried     atomic.Int64 // of the source's bytes
	answered    atomic.Int64 // of the destination's
	open        atomic.Int32 // connections
}

func (s *strand) Source(protocol.TransferID) (Caller, error) { return s, nil }
func (s *strand) Destination(protocol.TransferID, protocol.TransferPeer) (Listener, error) {
	return s, nil
}
func (s *strand) Self() protocol.TransferPeer { return protocol.TransferPeer{Pin: "p"} }
func (s *strand) Close()                      {}

func (s *strand) Dial(context.Context, protocol.TransferPeer) (net.Conn, error) {
	if s.unreachable {
		return nil, errors.New("no route to host")
	}
	a, b := net.Pipe()
	s.open.Add(2)
	s.dialed <- &strandEnd{Conn: b, s: s, lost: s.deafAfter, carried: &s.answered}
	return &strandEnd{Conn: a, s: s, cut: s.cutAfter, lost: s.lostAfter, carried: &s.carried}, nil
}

func (s *strand) Accept(ctx context.Context) (net.Conn, error) {
	select {
	case c := <-s.dialed:
		return c, nil
	case <-time.After(3 * time.Minute):
		return nil, errors.New("nobody has come")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type strandEnd struct {
	net.Conn
	s         *strand
	cut, lost int64
	carried   *atomic.Int64
	sent      int64
	closed    sync.Once
}

func (c *strandEnd) Write(p []byte) (int, error) {
	c.sent += int64(len(p))
	if c.cut > 0 && c.sent > c.cut {
		c.Conn.Close()
		return 0, io.ErrClosedPipe
	}
	if c.lost > 0 && c.sent > c.lost {
		return len(p), nil
	}
	n, err := c.Conn.Write(p)
	c.carried.Add(int64(n))
	return n, err
}

func (c *strandEnd) Close() error {
	c.closed.Do(func() { c.s.open.Add(-1) })
	return c.Conn.Close()
}

// desk is a gateway with the two ends of one transfer.
type desk struct {
	t        *testing.T
	src, dst *Ends
	reports  chan any
	mu       sync.Mutex // guards what follows
	relayed  int64      // bytes of the source that went through the gateway
	routes   []string   // that the destination told
	told     Arrived
	asked    int // the destination's person
}

type deskPeer struct {
	d      *desk
	source bool
}

func (p deskPeer) Report(_ context.Context, _ string, params any, _ bool) error {
	p.d.reports <- params
	return nil
}

func (p deskPeer) SendFrame(_ context.Context, f *Frame) error {
	p.d.mu.Lock()
	if p.source {
		p.d.relayed += int64(len(f.Body()))
	} else {
		if route, ok := Route(f); ok {
			p.d.routes = append(p.d.routes, route)
		}
		if a, ok := Progress(f); ok {
			p.d.told = a
		}
	}
	p.d.mu.Unlock()
	if p.source {
		p.d.dst.Binary(f)
	} else {
		p.d.src.Binary(f)
	}
	return nil
}

func newDesk(t *testing.T, from, to string, s *strand) *desk {
	t.Helper()
	d := &desk{t: t, reports: make(chan any, 16)}
	s.dialed = make(chan net.Conn, 1)
	d.src = NewEnds(Disk{Dir: from}, deskPeer{d, true}, nil, nil).Direct(s)
	d.dst = NewEnds(Disk{Dir: to}, deskPeer{d, false}, d.consent, nil).Direct(s)
	return d
}

func (d *desk) consent(context.Context, protocol.TransferReceive) error {
	d.asked++
	return nil
}

func (d *desk) close() {
	d.src.Close()
	d.dst.Close()
}

func event(e *Ends, name string, payload any) {
	raw, _ := json.Marshal(payload)
	e.Event(name, raw)
}

// begin takes the transfer up to its start.
func (d *desk) begin(path string) {
	d.t.Helper()
	terms := protocol.TransferStream{
		ID: "t1", Attempt: 1, Into: true, Conflict: protocol.ConflictRename, Links: protocol.LinksKeep, Peer: &protocol.TransferPeer{},
	}
	send := terms
	send.Paths = []string{path}
	event(d.src, protocol.EventTransferSend, protocol.TransferSend{TransferID: 7, Stream: &send})
	meta := (<-d.reports).(protocol.TransferMetaParams)
	terms.Peer = meta.Peer
	event(d.dst, protocol.EventTransferReceive, protocol.TransferReceive{TransferID: 7, Size: *meta.Size, Stream: &terms})
	accept := (<-d.reports).(protocol.TransferAcceptParams)
	if accept.Error != "" || accept.Peer == nil {
		d.t.Fatalf("%+v", accept)
	}
	event(d.src, protocol.EventTransferStart, protocol.TransferStartEvent{TransferID: 7, Peer: accept.Peer})
}

// end gives the destination's report, and lets go of the source as the gateway does.
func (d *desk) end() (done protocol.TransferDoneParams) {
	d.t.Helper()
	for {
		switch p := (<-d.reports).(type) {
		case protocol.TransferDoneParams:
			event(d.src, protocol.EventTransferStop, protocol.TransferStop{TransferID: 7, Keep: true})
			return p
		case protocol.TransferCompleteParams:
			if p.Error != "" {
				d.t.Fatal(p.Error)
			}
		}
	}
}

// arrives moves a tree over a strand and checks that all of it has arrived, and returns how long that took and what it made of the desk.
func arrives(t *testing.T, s *strand) (took time.Duration, d *desk, done protocol.TransferDoneParams) {
	t.Helper()
	_, dir := tree(t)
	to := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d = newDesk(t, filepath.Dir(dir), to, s)
		d.begin(filepath.Base(dir))
		done = d.end()
		took = time.Since(began)
		d.close()
	})
	if want, got := describe(t, dir), describe(t, filepath.Join(to, filepath.Base(dir))); !slices.Equal(want, got) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if done.Error != "" || done.Files != 7 || done.Skipped != 0 || done.Failed != 0 {
		t.Errorf("%+v", done)
	}
	if d.asked != 1 {
		t.Errorf("the destination's person was asked %d times", d.asked)
	}
	if n := s.open.Load(); n != 0 {
		t.Errorf("%d connections are left open", n)
	}
	return took, d, done
}

func TestNothingGoesThroughTheGatewayWhileTheEndsAreConnected(t *testing.T) {
	s := &strand{}
	_, d, done := arrives(t, s)
	if d.relayed != 0 || s.carried.Load() < *done.BytesWritten {
		t.Errorf("%d bytes went through the gateway, %d directly", d.relayed, s.carried.Load())
	}
	if !slices.Equal(d.routes, []string{protocol.RouteDirect}) || d.told.Files != 7 {
		t.Errorf("the gateway was told %v, %+v", d.routes, d.told)
	}
}

func TestEndsThatCannotConnectUseTheGateway(t *testing.T) {
	took, d, done := arrives(t, &strand{unreachable: true})
	if took > time.Second || d.relayed < *done.BytesWritten || !slices.Equal(d.routes, []string{protocol.RouteRelay}) {
		t.Errorf("it took %v, %d bytes, %v", took, d.relayed, d.routes)
	}
}

func TestACutAnywhereLosesNothing(t *testing.T) {
	whole := &strand{}
	arrives(t, whole)
	total := whole.carried.Load()
	places := []int64{total - 10_000, total - 100, total - 10, total - 1}
	for at := int64(1); at < total; at += total/8 + 1 {
		places = append(places, at)
	}
	for _, at := range places {
		s := &strand{cutAfter: at}
		took, d, _ := arrives(t, s)
		if took > time.Second || !slices.Equal(d.routes, []string{protocol.RouteDirect, protocol.RouteRelay}) {
			t.Errorf("cut after %d: it took %v, %v", at, took, d.routes)
		}
		// Small files of the tree, and what was under way, are sent again.
		if again := s.carried.Load() + d.relayed - total; again > Window+2*maxBody {
			t.Errorf("cut after %d: %d bytes were sent twice", at, again)
		}
	}
}

func TestAnEndThatIsNotHeardOfIsLeftAfterTwentySeconds(t *testing.T) {
	for name, s := range map[string]*strand{
		"from the start": {lostAfter: 1}, "in the middle": {lostAfter: 1 << 20},
		"its answers from the start": {deafAfter: 1}, "its answers": {deafAfter: 40},
	} {
		took, d, _ := arrives(t, s)
		off := took - laneQuiet
		if off < -laneBeat || off > laneBeat+time.Second || !slices.Equal(d.routes, []string{protocol.RouteDirect, protocol.RouteRelay}) {
			t.Errorf("%s: it took %v, %v", name, took, d.routes)
		}
	}
}

func TestASourceWhoseLastAnswerIsLostHearsOfTheEndFromTheGateway(t *testing.T) {
	whole := &strand{}
	arrives(t, whole)
	s := &strand{deafAfter: whole.answered.Load() - idSize}
	took, d, _ := arrives(t, s)
	if took > laneLinger+time.Second || !slices.Equal(d.routes, []string{protocol.RouteDirect}) || d.relayed > recHead+1 {
		t.Errorf("it took %v, %v, %d bytes through the gateway", took, d.routes, d.relayed)
	}
}

func TestADirectTransferThatIsCancelledLeavesNothing(t *testing.T) {
	for _, keep := range []bool{false, true} {
		s := &strand{lostAfter: 1 << 20}
		dir, to := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 4<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, dir, to, s)
			d.begin("f")
			synctest.Wait() // all that arrives has arrived
			for _, e := range []*Ends{d.src, d.dst} {
				event(e, protocol.EventTransferStop, protocol.TransferStop{TransferID: 7, Keep: keep})
			}
			began := time.Now()
			d.close()
			if took := time.Since(began); took > time.Second {
				t.Errorf("it took %v to stop", took)
			}
		})
		left, err := os.ReadDir(to)
		if err != nil || (len(left) > 0) != keep {
			t.Errorf("keep %v: %v, %v", keep, left, err)
		}
		if n := s.open.Load(); n != 0 {
			t.Errorf("%d connections are left open", n)
		}
	}
}

// TestASourceThatSendsMoreThanItMayIsStopped has a source ignore its credit: the destination holds no more than a window of it.
func TestASourceThatSendsMoreThanItMayIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		l := newLane(t.Context(), b, 7)
		defer l.close()
		frame := append(binary.LittleEndian.AppendUint32(nil, maxBody), make([]byte, maxBody)...)
		for range 2 * Window / maxBody {
			a.Write(frame)
		}
		held := 0
		for {
			f, err := l.in.Next(t.Context())
			if err != nil {
				if !errors.Is(err, ErrFlood) {
					t.Error(err)
				}
				break
			}
			held += len(f.Body())
			f.Free()
		}
		if held > Window+maxBody {
			t.Errorf("%d bytes were held", held)
		}
		a.Close()
	})
}

func FuzzLane(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 'k', 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0, 0, 4, 0, 1})
	f.Add(append([]byte{9, 0, 0, 0, recProgress, 4, 0, 0, 0}, 1, 2, 3, 4))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, b := net.Pipe()
		l := newLane(t.Context(), b, 7)
		defer l.close()
		go func() {
			io.Copy(a, bytes.NewReader(data))
			a.Close()
		}()
		total := 0
		for {
			f, err := l.in.Next(t.Context())
			if err != nil {
				break
			}
			if f.ID() != 7 {
				t.Error("a frame of another transfer")
			}
			total += len(f.Body())
			records(f.Body(), func(byte, []byte) error { return nil })
			f.Free()
		}
		if total > len(data) {
			t.Errorf("%d bytes came of %d", total, len(data))
		}
	})
}
