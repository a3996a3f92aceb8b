package transfer

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func TestProgressStaysWhileALaterAttemptComparesFiles(t *testing.T) {
	t.Parallel()
	row := store.Transfer{Transfer: protocol.Transfer{State: protocol.TransferRunning, Bytes: 100, BytesDone: 60, FilesDone: 3}}
	j := newJob(&services{bus: new(event.Bus)}, row, nil)
	for _, step := range []struct {
		report      stream.ProgressReport
		bytes       int64
		isComparing bool
	}{
		{stream.ProgressReport{}, 60, true},
		{stream.ProgressReport{Files: 1, Bytes: 20}, 60, true},
		{stream.ProgressReport{Files: 3, Bytes: 61, Current: "d"}, 61, false},
		{stream.ProgressReport{Files: 3, Bytes: 40, Current: "d"}, 40, false}, // it has to be sent again
	} {
		j.live.setProgress(step.report)
		if now := j.live.view(); now.BytesDone != step.bytes || now.Comparing() != step.isComparing {
			t.Errorf("after %+v: %d bytes, comparing %v, want %d, %v", step.report, now.BytesDone, now.Comparing(), step.bytes, step.isComparing)
		}
	}
}

// blockingStore holds back the write of a failure.
type blockingStore struct {
	*store.Transfers
	held chan struct{}
}

func (s blockingStore) Put(ctx context.Context, t store.Transfer, changes ...store.CallChange) error {
	if t.State == protocol.TransferFailed {
		s.held <- struct{}{}
		<-s.held
	}
	return s.Transfers.Put(ctx, t, changes...)
}

// A transfer whose end is being stored has not ended yet, and Wait waits for it.
func TestEndIsVisibleOnceItIsStored(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	s := blockingStore{st.Transfers, make(chan struct{})}
	e := New(Options{Store: s, Bus: new(event.Bus)})
	defer e.Close()
	e.services.queue.add(newJob(e.services, store.Transfer{Transfer: protocol.Transfer{ID: "x", State: protocol.TransferRunning, Sources: []string{"a:x"}}}, nil))
	e.services.queue.revoke("no such file", func(protocol.Transfer) bool { return true })
	<-s.held
	now, err := e.Get(t.Context(), protocol.TransferParams{ID: "x"})
	if err != nil || now.State != protocol.TransferRunning {
		t.Errorf("state before its end is stored: got %s, %v, want running", now.State, err)
	}
	waited := make(chan protocol.Transfer)
	go func() {
		end, _ := e.Wait(t.Context(), "x", time.Hour)
		waited <- end
	}()
	s.held <- struct{}{}
	if end := <-waited; end.State != protocol.TransferFailed || end.Error != "no such file" {
		t.Errorf("end: got %s (%s), want failed (no such file)", end.State, end.Error)
	}
	if stored, err := e.Get(t.Context(), protocol.TransferParams{ID: "x"}); err != nil || stored.State != protocol.TransferFailed {
		t.Errorf("history: got %s, %v, want failed", stored.State, err)
	}
}
