package stream

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// lockedFolder is a folder in which unfinished files cannot be looked up while it is shut.
type lockedFolder struct {
	disk
	shut    atomic.Bool
	reached chan struct{} // a lookup is waiting
	open    chan struct{}
}

func (g *lockedFolder) Target(name string, into, make bool) (Target, error) {
	if !make && g.shut.Load() {
		g.reached <- struct{}{}
		<-g.open
	}
	return g.disk.Target(name, into, make)
}

// destinationGateway is the gateway of a destination; it collects its reports.
type destinationGateway struct {
	accepted  chan uint32
	discarded chan uint32
}

func (h *destinationGateway) Report(_ context.Context, method string, params any, _ bool) error {
	switch p := params.(type) {
	case protocol.TransferAcceptParams:
		h.accepted <- *p.TransferID
	case protocol.TransferDoneParams:
		if p.Discarded != "" {
			h.discarded <- *p.TransferID
		}
	}
	return nil
}

func (h *destinationGateway) SendFrame(_ context.Context, f *Frame) error {
	f.Free()
	return nil
}

func waitUntil[T any](t *testing.T, c <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(3 * time.Minute):
		t.Fatalf("%s did not happen", what)
	}
	return v
}

// When a transfer is cancelled and restarted at once, it writes a new part file only after the old
// one has been removed.
func TestAttemptWaitsForTheCleanupOfThePrevious(t *testing.T) {
	for _, rests := range []bool{false, true} { // cancelled while it runs, or between attempts
		home := t.TempDir()
		g := &lockedFolder{disk: disk{home}, reached: make(chan struct{}), open: make(chan struct{})}
		h := &destinationGateway{accepted: make(chan uint32, 4), discarded: make(chan uint32, 4)}
		e := NewEnds(Options{Files: g, Peer: h, Unfinished: OpenUnfinished(filepath.Join(t.TempDir(), "ledger"))})
		stream := &protocol.TransferStream{ID: "t1", Attempt: 1, Into: true, Conflict: protocol.ConflictRename}
		begin := func(id uint32) {
			event(e, protocol.EventTransferReceive, protocol.TransferReceive{TransferID: id, Path: home, Size: 1 << 20, Stream: stream})
		}
		write := func(id uint32) { // writes a part file
			file := entry{name: "f", size: 1 << 20, mode: 0o600}
			p := packer{id: id, send: func(_ context.Context, f *Frame) error { e.Binary(f); return nil }}
			p.add(t.Context(), recEntry, file.encode())
			p.add(t.Context(), recBegin, make([]byte, 12))
			p.add(t.Context(), recData, []byte("hello"))
			p.flush(t.Context())
		}
		part := filepath.Join(home, partName("t1", "f"))
		there := func() bool { info, err := os.Stat(part); return err == nil && info.Size() == 5 }
		until := func(what string, ok func() bool) {
			t.Helper()
			for end := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%s did not happen", what)
				}
			}
		}
		begin(1)
		waitUntil(t, h.accepted, "accepted")
		write(1)
		until("a part", there)
		if rests {
			e.Drop()
			until("the end of the attempt", func() bool { return e.find(1, false) == nil })
		}
		g.shut.Store(true)
		event(e, protocol.EventTransferStop, protocol.TransferStop{TransferID: 1, Path: home, Stream: stream, Current: "f"})
		begin(2)
		waitUntil(t, g.reached, "the cleaning")
		select {
		case <-h.accepted:
			t.Error("the second attempt began before the first one was cleaned up")
		case <-h.discarded:
			t.Error("it was said that everything is removed before it was")
		default:
		}
		g.shut.Store(false)
		close(g.open)
		if id := waitUntil(t, h.discarded, "removed"); id != 1 {
			t.Errorf("%d was discarded, want 1", id)
		}
		if id := waitUntil(t, h.accepted, "accepted"); id != 2 || there() {
			t.Errorf("%d was accepted, and the old part is there: %v; want 2 and false", id, there())
		}
		write(2)
		until("the second part", there)
		e.Close()
		if !there() {
			t.Error("the second part was removed")
		}
	}
}
