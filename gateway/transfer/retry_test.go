package transfer_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/transfer"
)

// slowStore is a database that is slow to store cancelled transfers.
type slowStore struct {
	*store.Transfers
	writing chan struct{}
	write   chan struct{}
	puts    atomic.Int32
}

func (s *slowStore) Put(ctx context.Context, t store.Transfer, changes ...store.CallChange) error {
	if t.State == protocol.TransferCancelled {
		s.writing <- struct{}{}
		<-s.write
	}
	s.puts.Add(1)
	return s.Transfers.Put(ctx, t, changes...)
}

// noNodes is a list of nodes without any.
type noNodes struct{ noTools }

func (noNodes) Link(protocol.NodeID) (nodes.Link, nodes.Contact, bool) {
	return nil, nodes.Contact{}, false
}

// A Retry during a Cancel takes effect last, in the database too.
func TestRetryRightAfterCancelIsNotUndoneByIt(t *testing.T) {
	s, e, id := startWaiting(t)
	cancelled, retried := make(chan protocol.Transfer, 1), make(chan protocol.Transfer, 2)
	go func() {
		now, err := e.Cancel(t.Context(), id)
		if err != nil {
			t.Error(err)
		}
		cancelled <- now
	}()
	<-s.writing
	for range 2 { // from two windows
		go func() {
			now, err := e.Retry(t.Context(), id, transfer.Client{})
			if err != nil {
				t.Error(err)
			}
			retried <- now
		}()
	}
	select {
	case now := <-retried:
		t.Fatalf("got %+v before the write, want it to wait", now)
	case <-time.After(20 * time.Millisecond): // it may return later, but not before Cancel has returned
	}
	close(s.write)
	if now := <-cancelled; now.State != protocol.TransferCancelled {
		t.Errorf("cancel: got %+v, want it cancelled", now)
	}
	for range 2 {
		if now := <-retried; now.State != protocol.TransferQueued {
			t.Errorf("retry: got %+v, want it queued", now)
		}
	}
	if row, err := s.Transfers.Get(t.Context(), id.ID); err != nil || row.State != protocol.TransferQueued || s.puts.Load() != 3 {
		t.Errorf("in the database: got %+v, error %v after %d changes, want it queued after 3", row, err, s.puts.Load())
	}
	if open := e.Open(); len(open) != 1 {
		t.Errorf("in the queue: got %v, want one", open)
	}
}
