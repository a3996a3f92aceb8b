package stream

import (
	"bytes"
	"context"
	"crypto/rand"
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

// strand is a direct connection that can fail after a number of bytes.
type strand struct {
	near        bool  // from machine to machine; otherwise joined by the gateway
	after       int64 // number of the source's bytes through the gateway before the ends are connected
	gate        chan struct{}
	unreachable bool
	hangs       bool  // connecting never completes
	cutAfter    int64 // number of the source's bytes; 0: never
	lostAfter   int64 // number of the source's bytes; later ones are lost silently
	deafAfter   int64 // the same for the destination's bytes
	deafAtLast  bool  // the same for the destination's last message
	wasCut      atomic.Bool
	dialed      chan net.Conn
	carried     atomic.Int64 // number of the source's bytes
	answered    atomic.Int64 // number of the destination's bytes
	open        atomic.Int32 // number of open connections
}

func (s *strand) Source(protocol.TransferID) (Caller, error) { return s, nil }
func (s *strand) Destination(protocol.TransferID, protocol.TransferPeer) (Listener, error) {
	return s, nil
}
func (s *strand) Self() protocol.TransferPeer { return protocol.TransferPeer{Pin: "p"} }
func (s *strand) Close()                      {}

func (s *strand) Dial(ctx context.Context, _ protocol.TransferPeer) (net.Conn, string, error) {
	if s.unreachable {
		return nil, "", errors.New("no route to host")
	}
	if s.hangs {
		<-ctx.Done()
		return nil, "", context.Cause(ctx)
	}
	select {
	case <-s.gate:
	case <-ctx.Done():
		return nil, "", context.Cause(ctx)
	}
	a, b := net.Pipe()
	s.open.Add(2)
	s.dialed <- &strandEnd{Conn: b, s: s, lost: s.deafAfter, carried: &s.answered}
	route := protocol.RouteRelay
	if s.near {
		route = protocol.RouteDirect
	}
	return &strandEnd{Conn: a, s: s, cut: s.cutAfter, lost: s.lostAfter, carried: &s.carried}, route, nil
}

func (s *strand) Accept(ctx context.Context) (net.Conn, error) {
	select {
	case c := <-s.dialed:
		return c, nil
	case <-time.After(3 * time.Minute):
		return nil, errors.New("the source did not connect")
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
		c.s.wasCut.Store(true)
		c.Conn.Close()
		return 0, io.ErrClosedPipe
	}
	last := c.s.deafAtLast && bytes.Equal(p, binary.LittleEndian.AppendUint32(nil, acknowledgement))
	if last || c.lost > 0 && c.sent > c.lost {
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
	strand   *strand
	src, dst *Ends
	reports  chan any
	mu       sync.Mutex    // guards the fields below
	relayed  int64         // number of the source's bytes through the gateway
	turns    []RouteChange // announced by the destination
	told     ProgressReport
	asked    int      // how often the destination asked for consent
	open     bool     // the destination has accepted
	held     []*Frame // frames that the source sent before that
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
	if !p.source {
		if turn, ok := ParseRouteChange(f); ok {
			p.d.turns = append(p.d.turns, turn)
		}
		if a, ok := ParseProgress(f); ok {
			p.d.told = a
		}
		p.d.mu.Unlock()
		p.d.src.Binary(f)
		return nil
	}
	was, at := p.d.relayed, p.d.strand.after
	p.d.relayed += int64(len(f.Body()))
	meet := was < at && p.d.relayed >= at
	if p.d.held = append(p.d.held, f); p.d.open {
		p.d.passLocked()
	}
	p.d.mu.Unlock()
	if meet {
		close(p.d.strand.gate)
		synctest.Wait() // the ends connect
	}
	return nil
}

// passLocked delivers the held frames to the destination.
func (d *desk) passLocked() {
	for _, f := range d.held {
		d.dst.Binary(f)
	}
	d.held = nil
}

func newDesk(t *testing.T, from, to string, s *strand) *desk {
	t.Helper()
	d := &desk{t: t, strand: s, reports: make(chan any, 16)}
	s.dialed, s.gate = make(chan net.Conn, 1), make(chan struct{})
	if s.near { // nothing is sent before
		s.after = 0
	}
	if s.after == 0 {
		close(s.gate)
	}
	d.src = NewEnds(Disk{Dir: from}, deskPeer{d, true}, nil, nil).Direct(s)
	d.dst = NewEnds(Disk{Dir: to}, deskPeer{d, false}, d.consent, nil).Direct(s)
	d.src.minDirect = 1 << 20
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

// begin runs the transfer up to its start.
func (d *desk) begin(path string) {
	d.t.Helper()
	terms := protocol.TransferStream{
		ID: "t1", Attempt: 1, Into: true, Conflict: protocol.ConflictRename, Links: protocol.LinksKeep, Peer: &protocol.TransferPeer{Near: d.strand.near},
	}
	if !d.strand.near {
		terms.Early = Early
	}
	start := func() { event(d.src, protocol.EventTransferStart, protocol.TransferStartEvent{TransferID: 7}) }
	send := terms
	send.Paths = []string{path}
	event(d.src, protocol.EventTransferSend, protocol.TransferSend{TransferID: 7, Stream: &send})
	meta := (<-d.reports).(protocol.TransferMetaParams)
	if terms.Peer = meta.Peer; terms.Early > 0 {
		start()
	}
	event(d.dst, protocol.EventTransferReceive, protocol.TransferReceive{TransferID: 7, Size: *meta.Size, Stream: &terms})
	accept := (<-d.reports).(protocol.TransferAcceptParams)
	if accept.Error != "" || accept.Peer == nil {
		d.t.Fatalf("%+v", accept)
	}
	d.mu.Lock()
	d.open = true
	d.passLocked()
	d.mu.Unlock()
	event(d.src, protocol.EventTransferMeet, protocol.TransferMeet{TransferID: 7, Peer: *accept.Peer})
	if terms.Early == 0 {
		start()
	}
}

// end returns the destination's report, and stops the source as the gateway does.
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

// arrives sends a tree over a strand and checks that everything arrives. It returns the duration,
// the desk and the report.
func arrives(t *testing.T, s *strand) (took time.Duration, d *desk, done protocol.TransferDoneParams) {
	t.Helper()
	_, dir := tree(t)
	large := make([]byte, 6<<20)
	rand.Read(large)
	if err := os.WriteFile(filepath.Join(dir, "z.bin"), large, 0o600); err != nil {
		t.Fatal(err)
	}
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
	if done.Error != "" || done.Files != 8 || done.Skipped != 0 || done.Failed != 0 {
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

// Route announcements of a destination.
var (
	straight = RouteChange{Route: protocol.RouteDirect}
	joined   = RouteChange{Route: protocol.RouteRelay, DirectFailed: true}
	parted   = RouteChange{Route: protocol.RouteRelay, Lost: true}
)

// roads returns connections from machine to machine, and joined ones that begin at different points
// of the transfer.
func roads() []*strand {
	list := []*strand{{near: true}}
	for _, after := range []int64{1, Early / 2, 5 << 20} {
		list = append(list, &strand{after: after})
	}
	return list
}

// first returns the first announcement of a destination that switches to a strand.
func (s *strand) first() RouteChange {
	if s.near {
		return straight
	}
	return joined
}

func TestNothingGoesAsMessagesWhileTheEndsAreConnected(t *testing.T) {
	for _, s := range roads() {
		_, d, done := arrives(t, s)
		most := s.after + maxBody
		if s.near {
			most = recHead + 1
		}
		if d.relayed > most || s.carried.Load()+d.relayed < *done.BytesWritten || s.carried.Load() == 0 {
			t.Errorf("near %v, after %d: %d bytes went as messages, %d over the connection", s.near, s.after, d.relayed, s.carried.Load())
		}
		if !slices.Equal(d.turns, []RouteChange{s.first()}) || d.told.Files != 8 {
			t.Errorf("near %v, after %d: the gateway was told %v, %+v", s.near, s.after, d.turns, d.told)
		}
	}
}

func TestEndsThatCannotConnectUseTheGateway(t *testing.T) {
	for _, near := range []bool{false, true} {
		took, d, done := arrives(t, &strand{unreachable: true, near: near})
		if took > time.Second || d.relayed < *done.BytesWritten || len(d.turns) > 0 {
			t.Errorf("it took %v, %d bytes, %v", took, d.relayed, d.turns)
		}
	}
}

func TestEndsThatTakeForEverToConnectDoNotWaitForEver(t *testing.T) {
	for near, most := range map[bool]time.Duration{false: time.Second, true: directWait + time.Second} {
		took, d, done := arrives(t, &strand{hangs: true, near: near})
		if took > most || d.relayed < *done.BytesWritten || len(d.turns) > 0 {
			t.Errorf("near %v: it took %v, %d bytes, %v", near, took, d.relayed, d.turns)
		}
	}
}

func TestACutAnywhereLosesNothing(t *testing.T) {
	for _, road := range roads() {
		whole := &strand{near: road.near, after: road.after}
		_, d, _ := arrives(t, whole)
		total, relayed := whole.carried.Load(), d.relayed
		places := []int64{total - 10_000, total - 100, total - 10, total - 1}
		for at := int64(1); at < total; at += total/4 + 1 {
			places = append(places, at)
		}
		for _, at := range places {
			s := &strand{near: road.near, after: road.after, cutAfter: at}
			took, d, _ := arrives(t, s)
			want := []RouteChange{s.first(), parted}
			if at > total-maxBody && !s.wasCut.Load() { // frames may end elsewhere
				want = want[:1]
			}
			if took > time.Second || !slices.Equal(d.turns, want) {
				t.Errorf("near %v, after %d, cut after %d: it took %v, %v", s.near, s.after, at, took, d.turns)
			}
			// Small files of the tree, and bytes in flight, are sent again.
			if again := s.carried.Load() + d.relayed - total - relayed; again > Window+2*maxBody {
				t.Errorf("near %v, after %d, cut after %d: %d bytes were sent twice", s.near, s.after, at, again)
			}
		}
	}
}

func TestAnEndThatIsNotHeardOfIsLeftAfterTwentySeconds(t *testing.T) {
	for name, how := range map[string]*strand{
		"from the start": {lostAfter: 1}, "in the middle": {lostAfter: 1 << 20},
		"its answers from the start": {deafAfter: 1}, "its answers": {deafAfter: 40},
	} {
		for _, near := range []bool{false, true} {
			s := &strand{near: near, after: 1, lostAfter: how.lostAfter, deafAfter: how.deafAfter}
			took, d, _ := arrives(t, s)
			off := took - silenceLimit
			if off < -heartbeatEvery || off > heartbeatEvery+time.Second || !slices.Equal(d.turns, []RouteChange{s.first(), parted}) {
				t.Errorf("near %v, %s: it took %v, %v", s.near, name, took, d.turns)
			}
		}
	}
}

func TestASourceWhoseLastAnswerIsLostHearsOfTheEndFromTheGateway(t *testing.T) {
	took, d, _ := arrives(t, &strand{near: true, deafAtLast: true})
	if took > closeWait+time.Second || !slices.Equal(d.turns, []RouteChange{straight}) || d.relayed > 2*(recHead+1) {
		t.Errorf("it took %v, %v, %d bytes through the gateway", took, d.turns, d.relayed)
	}
}

func TestADirectTransferThatIsCancelledLeavesNothing(t *testing.T) {
	for _, keep := range []bool{false, true} {
		s := &strand{near: true, lostAfter: 1 << 20}
		dir, to := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 4<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			d := newDesk(t, dir, to, s)
			d.begin("f")
			synctest.Wait() // everything in flight has arrived
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

// TestASourceThatSendsMoreThanItMayIsStopped: the source ignores its credit, and the destination
// buffers no more than a window.
func TestASourceThatSendsMoreThanItMayIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		n := &end{role: role{id: 7}, in: NewInbox(Window)}
		l := newDirectConn(t.Context(), b, n)
		defer l.close()
		l.listen()
		frame := append(binary.LittleEndian.AppendUint32(nil, maxBody), make([]byte, maxBody)...)
		for range 2 * Window / maxBody {
			a.Write(frame)
		}
		held := 0
		for {
			f, err := n.in.Next(t.Context())
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
		n := &end{role: role{id: 7}, in: NewInbox(Window)}
		l := newDirectConn(t.Context(), b, n)
		defer l.close()
		l.listen()
		go func() {
			io.Copy(a, bytes.NewReader(data))
			a.Close()
		}()
		<-l.closed
		n.in.Close(io.EOF)
		total := -(recHead + 1) // the lane's own frames
		for {
			f, err := n.in.Next(t.Context())
			if err != nil {
				break
			}
			if f.ID() != 7 {
				t.Error("a frame of another transfer")
			}
			total += len(f.Body())
			routes(f, func(byte) error { return nil })
			ParseRouteChange(f)
			f.Free()
		}
		if total > len(data) {
			t.Errorf("%d bytes came of %d", total, len(data))
		}
	})
}
