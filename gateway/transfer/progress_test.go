package transfer

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
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

func TestATransferThatStallsHasNoSpeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &live{bus: new(event.Bus), row: store.Transfer{Transfer: protocol.Transfer{State: protocol.TransferRunning, Bytes: 100 << 20}}}
		for i := range 3 {
			j.setProgress(stream.ProgressReport{Bytes: int64(i+1) << 20, Current: "a"})
			time.Sleep(time.Second)
		}
		moving := j.view()
		j.expireSpeed(time.Now())
		if got := j.view(); got.Speed != moving.Speed || got.Speed == 0 || got.ETA == 0 {
			t.Fatalf("after a second without bytes: got %d bytes/s, ETA %d ms; want %d bytes/s and an ETA", got.Speed, got.ETA, moving.Speed)
		}
		time.Sleep(speedExpiry)
		published := j.bus.Subscribe()
		defer published.Close()
		j.expireSpeed(time.Now())
		if c, err := published.Next(t.Context()); err != nil || c.Transfer == nil || c.Transfer.Speed != 0 {
			t.Errorf("published: got %+v, %v; want the transfer without a speed", c.Transfer, err)
		}
		if got := j.view(); got.Speed != 0 || got.ETA != 0 || got.BytesDone != 3<<20 {
			t.Errorf("stalled: got %d bytes/s, ETA %d ms, %d bytes done; want no speed, no ETA, %d bytes", got.Speed, got.ETA, got.BytesDone, 3<<20)
		}
		j.setProgress(stream.ProgressReport{Bytes: 4 << 20, Current: "a"})
		time.Sleep(time.Second)
		j.setProgress(stream.ProgressReport{Bytes: 5 << 20, Current: "a"})
		if got := j.view().Speed; got != 1<<20 {
			t.Errorf("moving again: got %d bytes/s, want %d", got, 1<<20)
		}
	})
}
