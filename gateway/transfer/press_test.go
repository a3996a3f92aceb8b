package transfer_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/transfer"
)

// startWaiting starts a transfer that waits for its machines, in an engine whose store is slow.
func startWaiting(t *testing.T) (*slowStore, *transfer.Engine, protocol.TransferParams) {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	s := &slowStore{Transfers: st.Transfers, writing: make(chan struct{}), write: make(chan struct{})}
	e := transfer.New(transfer.Options{Store: s, Bus: new(event.Bus), Authorizer: anyCaller{}, Machines: noNodes{}})
	t.Cleanup(e.Close)
	tr, err := e.Start(t.Context(), transfer.Request{TransferStartParams: protocol.TransferStartParams{Sources: []string{"a:x"}, Destination: "b:y", Later: true}})
	if err != nil {
		t.Fatal(err)
	}
	return s, e, protocol.TransferParams{ID: tr.ID}
}

// Two windows cancel a resting transfer at the same moment: it ends once, and both get the same
// result.
func TestTwoWindowsCancelAtOnce(t *testing.T) {
	s, e, id := startWaiting(t)
	over := make(chan protocol.Transfer, 2)
	press := func() {
		now, err := e.Cancel(t.Context(), id)
		if err != nil {
			t.Error(err)
		}
		over <- now
	}
	go press()
	<-s.writing
	go press()
	paused := make(chan error)
	go func() {
		_, err := e.Pause(t.Context(), id)
		paused <- err
	}()
	close(s.write)
	if err := <-paused; !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("a third one pauses: %v", err)
	}
	for range 2 {
		if now := <-over; now.State != protocol.TransferCancelled {
			t.Errorf("got %+v, want it cancelled", now)
		}
	}
	if row, err := s.Transfers.Get(t.Context(), id.ID); err != nil || row.State != protocol.TransferCancelled || row.EndedAt == 0 {
		t.Errorf("in the database: got %+v, error %v, want it cancelled", row, err)
	}
}

// anyCaller is a [transfer.Authorizer] that refuses nobody.
type anyCaller struct{}

func (anyCaller) Check(tool.Call) error { return nil }

func (anyCaller) Authorize(context.Context, tool.Call) (tool.Authorization, error) {
	return tool.Authorization{}, nil
}

func (anyCaller) Continue(context.Context, tool.Step) (json.RawMessage, error) {
	return nil, protocol.ErrUnavailable
}

// lateStore is slow with the first rows, so that later writes overtake them unless writes are
// serialized.
type lateStore struct{ *store.Transfers }

func (s lateStore) Put(ctx context.Context, t store.Transfer, changes ...store.CallChange) error {
	if t.State != protocol.TransferCancelled {
		time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
	}
	return s.Transfers.Put(ctx, t, changes...)
}

// Windows send all requests at once: the last change must be the one in the database, and a
// cancelled transfer must stay cancelled.
func TestLastActionIsStored(t *testing.T) {
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	e := transfer.New(transfer.Options{Store: lateStore{st.Transfers}, Bus: new(event.Bus), Authorizer: anyCaller{}, Machines: noNodes{}})
	defer e.Close()
	for range 30 {
		tr, err := e.Start(t.Context(), transfer.Request{TransferStartParams: protocol.TransferStartParams{Sources: []string{"a:x"}, Destination: "b:y", Later: true}})
		if err != nil {
			t.Fatal(err)
		}
		id := protocol.TransferParams{ID: tr.ID}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				e.Pause(t.Context(), id)
				e.Resume(t.Context(), id, transfer.Client{})
			})
		}
		wg.Go(func() {
			if now, err := e.Cancel(t.Context(), id); err != nil || now.State != protocol.TransferCancelled {
				t.Errorf("got %+v, error %v, want it cancelled", now, err)
			}
		})
		wg.Wait()
		if row, err := st.Transfers.Get(t.Context(), tr.ID); err != nil || row.State != protocol.TransferCancelled {
			t.Fatalf("in the database: got %+v, error %v, want it cancelled", row, err)
		}
	}
	if open, _, err := st.Transfers.List(t.Context(), store.TransferFilter{Limit: -1}); err != nil || len(open) != 0 || len(e.Open()) != 0 {
		t.Errorf("got open %v, %v, error %v, want none", open, e.Open(), err)
	}
}

// A node disconnects at the moment in which its transfer is cancelled or paused: neither request is
// lost, even if the gateway restarts.
func TestCancelDuringADisconnectIsNotLost(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	r.createFile("a", "x.bin", 48<<20)
	for i, press := range []struct {
		m    protocol.Method[protocol.TransferParams, protocol.Transfer]
		want string
	}{{protocol.TransferCancel, protocol.TransferCancelled}, {protocol.TransferPause, protocol.TransferPaused}, {protocol.TransferCancel, protocol.TransferCancelled}, {protocol.TransferPause, protocol.TransferPaused}} {
		r.waitOnline("a")
		r.waitOnline("b")
		r.nodes["a"].wire.slow.setOn(true)
		tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin"})
		r.waitTransfer(tr.ID, patience, func(now protocol.Transfer) bool { return now.BytesDone > 2<<20 })
		lost := []protocol.NodeID{"a", "b"}[i%2]
		before := r.connectedAt(lost)
		cut := make(chan struct{})
		go func() {
			defer close(cut)
			r.nodes[lost].wire.disconnect(false)
		}()
		_, err := client.Call(t.Context(), r.c, press.m, protocol.TransferParams{ID: tr.ID})
		<-cut
		if err != nil {
			t.Fatal(err)
		}
		r.nodes["a"].wire.slow.setOn(false)
		r.waitTransfer(tr.ID, patience, func(now protocol.Transfer) bool { return now.State == press.want })
		r.waitReconnected(lost, before)
		if now, err := client.Call(t.Context(), r.c, protocol.TransferGet, protocol.TransferParams{ID: tr.ID}); err != nil || now.State != press.want {
			t.Errorf("%d: got %+v, error %v, want %s", i, now, err, press.want)
		}
		if press.want == protocol.TransferPaused {
			if _, err := client.Call(t.Context(), r.c, protocol.TransferCancel, protocol.TransferParams{ID: tr.ID}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
