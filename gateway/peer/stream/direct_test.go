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

	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

// failingLink is a direct connection that can fail after a number of bytes.
type failingLink struct {
	unreachable bool
	cutAfter    int64 // number of the source's bytes; 0: never
	lostAfter   int64 // number of the source's bytes; after them the connection blocks without an error
	wasCut      atomic.Bool
	dialed      chan net.Conn
	carried     atomic.Int64 // number of the source's bytes
	open        atomic.Int32 // number of open connections
}

func (s *failingLink) Source(protocol.TransferID) (Caller, error) { return s, nil }
func (s *failingLink) Destination(protocol.TransferID, protocol.TransferPeer) (Listener, error) {
	return s, nil
}
func (s *failingLink) Self() protocol.TransferPeer { return protocol.TransferPeer{Pin: "p"} }
func (s *failingLink) Close()                      {}

func (s *failingLink) Dial(context.Context, protocol.TransferPeer) (net.Conn, error) {
	if s.unreachable {
		return nil, errors.New("no route to host")
	}
	a, b := net.Pipe()
	s.open.Add(2)
	s.dialed <- &strandEnd{Conn: b, s: s, carried: new(atomic.Int64)}
	return &strandEnd{Conn: a, s: s, cut: s.cutAfter, lost: s.lostAfter, carried: &s.carried}, nil
}

func (s *failingLink) Accept(ctx context.Context) (net.Conn, error) {
	select {
	case c := <-s.dialed:
		return c, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type strandEnd struct {
	net.Conn
	s         *failingLink
	cut, lost int64
	carried   *atomic.Int64
	sent      int64
	closed    sync.Once
	deadline  time.Time
}

func (c *strandEnd) SetWriteDeadline(t time.Time) error {
	c.deadline = t
	return c.Conn.SetWriteDeadline(t)
}

func (c *strandEnd) Write(p []byte) (int, error) {
	c.sent += int64(len(p))
	if c.cut > 0 && c.sent > c.cut {
		c.s.wasCut.Store(true)
		c.Conn.Close()
		return 0, io.ErrClosedPipe
	}
	if c.lost > 0 && c.sent > c.lost {
		time.Sleep(time.Until(c.deadline))
		return 0, os.ErrDeadlineExceeded
	}
	n, err := c.Conn.Write(p)
	c.carried.Add(int64(n))
	return n, err
}

func (c *strandEnd) Close() error {
	c.closed.Do(func() { c.s.open.Add(-1) })
	return c.Conn.Close()
}

// directDesk is a gateway with the two ends of one transfer.
type directDesk struct {
	t        *testing.T
	src, dst *Ends
	reports  chan any
	number   uint32        // of the current attempt
	lost     wake.Signal   // holds a token when an end has reported that the direct connection is lost
	held     chan struct{} // if not nil, such a report blocks until it is closed
	mu       sync.Mutex    // guards the fields below
	relayed  int64         // number of the source's bytes through the gateway
	isDirect bool          // the destination has reported it
	told     ProgressReport
}

type directPeer struct {
	d      *directDesk
	source bool
}

func (p directPeer) Report(_ context.Context, _ string, params any, _ bool) error {
	p.d.reports <- params
	return nil
}

func (p directPeer) SendFrame(_ context.Context, f *Frame) error {
	direct, lost := ParseRoute(f)
	if lost && p.d.held != nil {
		<-p.d.held
	}
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	switch {
	case lost:
		p.d.lost.Send()
	case p.source:
		p.d.relayed += int64(len(f.Body()))
		p.d.dst.Binary(f)
	default:
		p.d.isDirect = p.d.isDirect || direct
		if a, ok := ParseProgress(f); ok {
			p.d.told = a
		}
		p.d.src.Binary(f)
	}
	return nil
}

func newDirectDesk(t *testing.T, from, to string, s *failingLink) *directDesk {
	t.Helper()
	d := &directDesk{t: t, reports: make(chan any, 16), lost: wake.New()}
	s.dialed = make(chan net.Conn, 1)
	unfinished := OpenUnfinished(t.TempDir())
	d.src = NewEnds(Options{Files: Disk{Dir: from}, Peer: directPeer{d, true}, Direct: s, Unfinished: unfinished})
	d.dst = NewEnds(Options{Files: Disk{Dir: to}, Peer: directPeer{d, false}, Direct: s, Unfinished: unfinished})
	return d
}

func (d *directDesk) close() {
	d.src.Close()
	d.dst.Close()
}

func event(e *Ends, name string, payload any) {
	raw, _ := json.Marshal(payload)
	e.Event(name, raw)
}

// begin runs an attempt of the transfer up to its start.
func (d *directDesk) begin(path string, attempt int) {
	d.t.Helper()
	terms := protocol.TransferStream{ID: "t1", Attempt: attempt, Into: true, Conflict: protocol.ConflictRename, Links: protocol.LinksKeep}
	if attempt == 1 {
		terms.Peer = &protocol.TransferPeer{}
	}
	d.number++ // an end of the previous attempt may still send a frame
	send := terms
	send.Paths = []string{path}
	event(d.src, protocol.EventTransferSend, protocol.TransferSend{TransferID: d.number, Stream: &send})
	meta := (<-d.reports).(protocol.TransferMetaParams)
	terms.Peer = meta.Peer
	event(d.dst, protocol.EventTransferReceive, protocol.TransferReceive{TransferID: d.number, Size: *meta.Size, Stream: &terms})
	accept := (<-d.reports).(protocol.TransferAcceptParams)
	if accept.Error != "" || (accept.Peer != nil) != (attempt == 1) {
		d.t.Fatalf("got %+v; want no error, and an address only at the first attempt", accept)
	}
	event(d.src, protocol.EventTransferStart, protocol.TransferStartEvent{TransferID: d.number, Peer: accept.Peer})
}

// stop stops one end, as the gateway does.
func (d *directDesk) stop(e *Ends, keep bool) {
	stop := protocol.TransferStop{TransferID: d.number, Keep: keep}
	if !keep {
		stop.Stream = &protocol.TransferStream{ID: "t1", Into: true}
	}
	event(e, protocol.EventTransferStop, stop)
}

// end returns the destination's report. Like the gateway, it begins again without a direct
// connection when that is lost.
func (d *directDesk) end(path string) (done protocol.TransferDoneParams, wasLost bool) {
	d.t.Helper()
	for {
		select {
		case <-d.lost:
			d.stop(d.src, true)
			d.stop(d.dst, true)
			d.begin(path, 2)
			wasLost = true
		case report := <-d.reports:
			switch p := report.(type) {
			case protocol.TransferDoneParams:
				return p, wasLost
			case protocol.TransferCompleteParams:
				if p.Error != "" {
					d.t.Fatal(p.Error)
				}
			}
		}
	}
}

// sendDirect sends a tree over a direct link and checks that everything arrives. It returns the
// duration, the desk, the number of bytes, and whether the link was lost.
func sendDirect(t *testing.T, s *failingLink) (took time.Duration, d *directDesk, written int64, wasLost bool) {
	t.Helper()
	_, dir := tree(t)
	large := make([]byte, 6<<20)
	rand.Read(large)
	if err := os.WriteFile(filepath.Join(dir, "z.bin"), large, 0o600); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	var done protocol.TransferDoneParams
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d = newDirectDesk(t, filepath.Dir(dir), to, s)
		d.begin(filepath.Base(dir), 1)
		done, wasLost = d.end(filepath.Base(dir))
		took = time.Since(began)
		d.close()
	})
	if want, got := describe(t, dir), describe(t, filepath.Join(to, filepath.Base(dir))); !slices.Equal(want, got) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if done.Error != "" || done.Files+done.Skipped != 8 || done.Skipped > 0 && !wasLost || done.Failed != 0 || d.told.Files != 8 {
		t.Errorf("got %+v, %+v; want an empty done.Error, done.Files + done.Skipped 8, either done.Skipped at most 0 or wasLost, done.Failed 0 and d.told.Files 8", done, d.told)
	}
	if n := s.open.Load(); n != 0 {
		t.Errorf("%d connections are left open", n)
	}
	return took, d, *done.BytesWritten, wasLost
}

func TestDirectTransferSendsNoMessages(t *testing.T) {
	var s failingLink
	_, d, written, lost := sendDirect(t, &s)
	if d.relayed > 0 || s.carried.Load() < written || !d.isDirect || lost {
		t.Errorf("%d bytes went as messages, %d over the connection; direct %v, lost %v; want at most 0, at least %d, true and false", d.relayed, s.carried.Load(), d.isDirect, lost, written)
	}
}

func TestEndsThatCannotConnectUseTheGateway(t *testing.T) {
	took, d, written, lost := sendDirect(t, &failingLink{unreachable: true})
	if took > time.Second || d.relayed < written || d.isDirect || lost {
		t.Errorf("it took %v, %d bytes; direct %v, lost %v; want at most %v, at least %d, false and false", took, d.relayed, d.isDirect, lost, time.Second, written)
	}
}

func TestDisconnectAnywhereLosesNothing(t *testing.T) {
	var whole failingLink
	sendDirect(t, &whole)
	total := whole.carried.Load()
	places := []int64{total - 10_000, total - 100, total - 10, total - 1}
	for at := int64(1); at < total; at += total/4 + 1 {
		places = append(places, at)
	}
	for _, at := range places {
		s := &failingLink{cutAfter: at}
		took, d, _, lost := sendDirect(t, s)
		if took > time.Second || lost != s.wasCut.Load() || at < total-maxBody && !lost {
			t.Errorf("cut after %d: it took %v, lost %v", at, took, lost)
		}
		// Small files of the tree, and bytes in flight, are sent again.
		if again := s.carried.Load() + d.relayed - total; again > Window+2*maxBody {
			t.Errorf("cut after %d: %d bytes were sent twice", at, again)
		}
	}
}

func TestAStuckConnectionIsDroppedAfterTwentySeconds(t *testing.T) {
	for _, at := range []int64{1, 1 << 20} {
		took, _, _, lost := sendDirect(t, &failingLink{lostAfter: at})
		if took < writeLimit || took > writeLimit+time.Second || !lost {
			t.Errorf("after %d: it took %v, lost %v; want at least %v and true", at, took, lost, writeLimit)
		}
	}
}

func TestADirectTransferThatIsCancelledLeavesNothing(t *testing.T) {
	for order, stop := range map[string]func(d *directDesk, keep bool){
		"the destination first": func(d *directDesk, keep bool) {
			d.stop(d.dst, keep)
			synctest.Wait()
			d.stop(d.src, keep)
		},
		"the source first, and the destination has ended": func(d *directDesk, keep bool) {
			d.stop(d.src, keep)
			synctest.Wait() // the destination has lost the connection
			d.stop(d.dst, keep)
		},
		"the source first, and the destination reports the loss": func(d *directDesk, keep bool) {
			d.held = make(chan struct{})
			d.stop(d.src, keep)
			synctest.Wait()
			d.stop(d.dst, keep)
			synctest.Wait()
			close(d.held)
		},
	} {
		t.Run(order, func(t *testing.T) {
			for _, keep := range []bool{false, true} {
				stopsDirect(t, keep, stop)
			}
		})
	}
}

// stopsDirect stops a transfer in the middle, and checks which files and connections are left, and
// what the destination confirms.
func stopsDirect(t *testing.T, keep bool, stop func(d *directDesk, keep bool)) {
	t.Helper()
	s := &failingLink{lostAfter: 1 << 20}
	dir, to := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	files := func() int {
		left, err := os.ReadDir(to)
		if err != nil {
			t.Error(err)
		}
		return len(left)
	}
	confirmed := 0
	synctest.Test(t, func(t *testing.T) {
		d := newDirectDesk(t, dir, to, s)
		d.begin("f", 1)
		synctest.Wait() // everything in flight has arrived
		began := time.Now()
		stop(d, keep)
		d.close()
		if took := time.Since(began); took > writeLimit {
			t.Errorf("it took %v to stop, want at most %v", took, writeLimit)
		}
		for len(d.reports) > 0 {
			if done, ok := (<-d.reports).(protocol.TransferDoneParams); ok && done.Discarded == "t1" {
				confirmed++
			}
		}
	})
	if n := files(); (n > 0) != keep || (confirmed == 1) == keep {
		t.Errorf("keep %v: %d files are left, and the removal was confirmed %d times", keep, n, confirmed)
	}
	if n := s.open.Load(); n != 0 {
		t.Errorf("%d connections are left open", n)
	}
}

// TestASourceThatSendsMoreThanItMayIsStopped: the source ignores its credit, and the destination
// buffers no more than a window.
func TestASourceThatSendsMoreThanItMayIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		n := &end{role: role{id: 7}, in: NewInbox(Window)}
		go n.readDirect(b, nil)
		frame := append(binary.LittleEndian.AppendUint32(nil, maxBody), make([]byte, maxBody)...)
		for range 2 * Window / maxBody {
			a.Write(frame)
		}
		held := 0
		for {
			f, err := n.in.Next(t.Context())
			if err != nil {
				if !errors.Is(err, ErrFlood) {
					t.Errorf("got %v; want the error ErrFlood", err)
				}
				break
			}
			held += len(f.Body())
			f.Free()
		}
		if held > Window+maxBody {
			t.Errorf("%d bytes were held, want at most %d", held, Window+maxBody)
		}
		a.Close()
	})
}

func FuzzDirect(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 'k', 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0, 0, 4, 0, 1})
	f.Add(append([]byte{9, 0, 0, 0, recProgress, 4, 0, 0, 0}, 1, 2, 3, 4))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, b := net.Pipe()
		n := &end{role: role{id: 7}, in: NewInbox(Window)}
		go func() {
			io.Copy(a, bytes.NewReader(data))
			a.Close()
		}()
		n.readDirect(b, nil)
		b.Close()
		total := 0
		for {
			f, err := n.in.Next(t.Context())
			if err != nil {
				break
			}
			if f.ID() != 7 {
				t.Error("a frame of another transfer")
			}
			total += len(f.Body())
			ParseRoute(f)
			f.Free()
		}
		if total > len(data) {
			t.Errorf("got %d bytes, want at most the %d that were sent", total, len(data))
		}
	})
}
