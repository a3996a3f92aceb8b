package transfer_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/transfer"
)

// deviceWindow is a window of a paired device.
type deviceWindow struct {
	device protocol.DeviceID
	gone   chan struct{}
	events atomic.Int32
}

func newScreen(d protocol.DeviceID) *deviceWindow {
	return &deviceWindow{device: d, gone: make(chan struct{})}
}

func (s *deviceWindow) SendEvent(context.Context, string, any) error {
	s.events.Add(1)
	return nil
}
func (s *deviceWindow) SendEventBehind(context.Context, string, any) error { return nil }
func (s *deviceWindow) SendFrame(_ context.Context, f *stream.Frame) error { f.Free(); return nil }
func (s *deviceWindow) Gone() <-chan struct{}                              { return s.gone }
func (s *deviceWindow) Device() protocol.DeviceID                          { return s.device }

// singleNode is the only node, while it is connected.
type singleNode struct {
	*deviceWindow
	noTools
	there atomic.Bool
}

func (n *singleNode) CallNode(context.Context, string, any) error { return nil }

func (n *singleNode) Link(id protocol.NodeID) (nodes.Link, nodes.Contact, bool) {
	return n, nodes.Contact{Extensions: []string{protocol.ExtTransfer, protocol.ExtUndo}}, id == "nas" && n.there.Load()
}

func (n *singleNode) Close(int, string) {}

// TestAPathMeansAFileOfTheComputerItWasNamedOn: a window on another computer that continues
// somebody's transfer would send, or overwrite, another file of that name.
func TestAPathMeansAFileOfTheComputerItWasNamedOn(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	machine := &singleNode{deviceWindow: newScreen("")}
	e := transfer.New(transfer.Options{Store: st.Transfers, Bus: new(event.Bus), Authorizer: anyCaller{}, Machines: machine})
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan struct{})
	go func() { defer close(ran); e.Run(ctx) }()
	defer func() { cancel(); <-ran; e.Close() }()

	laptop, desk := newScreen("laptop"), newScreen("desk")
	start := func(source, destination string) protocol.TransferParams {
		t.Helper()
		tr, err := e.Start(t.Context(), transfer.Request{Here: laptop, TransferStartParams: protocol.TransferStartParams{Sources: []string{source}, Destination: destination, Later: true}})
		if err != nil {
			t.Fatal(err)
		}
		return protocol.TransferParams{ID: tr.ID}
	}
	for _, ends := range [][2]string{{"@here:/home/ann/.ssh/id", "nas:x"}, {"nas:x", "@here:/home/ann/.bashrc"}} {
		id := start(ends[0], ends[1])
		close(laptop.gone) // the command line was killed
		machine.there.Store(true)
		if _, err := e.Resume(t.Context(), id, transfer.Client{Window: desk}); !errors.Is(err, protocol.ErrConflict) {
			t.Errorf("%s: went on at the desk: %v", ends, err)
		}
		if now, err := e.Pause(t.Context(), id); err != nil || now.State != protocol.TransferPaused {
			t.Fatalf("got %+v, error %v, want it paused", now, err)
		}
		// Anybody who sees the transfer may resume it, but only from its own computer.
		now, err := e.Resume(t.Context(), id, transfer.Client{Window: desk})
		if err != nil || now.State != protocol.TransferWaiting || now.Error == "" {
			t.Errorf("%s: resumed at the desk: got %+v, error %v, want it waiting for its computer", ends, now, err)
		}
		if _, err := e.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Retry(t.Context(), id, transfer.Client{Window: desk}); !errors.Is(err, protocol.ErrConflict) {
			t.Errorf("%s: tried again at the desk: %v", ends, err)
		}
		if desk.events.Load() != 0 {
			t.Errorf("%s: got an event at the desk, want none", ends)
		}
		laptop = newScreen("laptop")
		if _, err := e.Retry(t.Context(), id, transfer.Client{Window: laptop}); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(patience); laptop.events.Load() == 0 && machine.events.Load() == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: got no event where it began, want one", ends)
			}
		}
		if _, err := e.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		machine.there.Store(false)
	}

	// Replaced files are restored on that computer, too.
	done := store.Transfer{Transfer: protocol.Transfer{
		ID: "t", State: protocol.TransferDone, Sources: []string{"nas:x"}, Destination: "@here:/y", From: "nas", To: protocol.Here, Device: "laptop", Kept: 1,
		KeptUntil: time.Now().Add(time.Hour).UnixMilli(), EndedAt: 1, CreatedAt: 1,
	}}
	if err := st.Transfers.Put(t.Context(), done); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Undo(t.Context(), protocol.TransferParams{ID: "t"}, desk); !errors.Is(err, protocol.ErrConflict) || desk.events.Load() != 0 {
		t.Errorf("brought back at the desk: %v", err)
	}
}
