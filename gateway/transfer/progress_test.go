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
	j := &job{
		e:   &Engine{bus: new(event.Bus)},
		row: store.Transfer{Transfer: protocol.Transfer{State: protocol.TransferRunning, Bytes: 100, BytesDone: 60, FilesDone: 3}},
	}
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
		j.setProgress(step.report)
		if now := j.view(); now.BytesDone != step.bytes || now.Comparing() != step.isComparing {
			t.Errorf("after %+v: %d bytes, comparing %v, want %d, %v", step.report, now.BytesDone, now.Comparing(), step.bytes, step.isComparing)
		}
	}
}

// TestATransferThatJustEndedIsNotReadAsRunning holds back the write of the end.
func TestATransferThatJustEndedIsNotReadAsRunning(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	e := New(Options{Store: st.Transfers, Bus: new(event.Bus)})
	j := newJob(e, store.Transfer{Transfer: protocol.Transfer{ID: "x", State: protocol.TransferRunning}}, nil)
	e.jobs["x"] = j
	j.storing.Lock()
	e.mu.Lock()
	j.ownLocked(func(context.Context) (outcome, error) { return outcome{}, final("no such file") })
	e.mu.Unlock()
	now, err := e.Get(t.Context(), protocol.TransferParams{ID: "x"})
	if err != nil || now.State != protocol.TransferRunning { // its end is not stored yet
		t.Errorf("it is %s, %v", now.State, err)
	}
	waited := make(chan protocol.Transfer)
	go func() {
		end, _ := e.Wait(t.Context(), "x", time.Hour)
		waited <- end
	}()
	j.storing.Unlock()
	if end := <-waited; end.State != protocol.TransferFailed || end.Error != "no such file" {
		t.Errorf("it ended as %+v", end)
	}
	e.wg.Wait()
	if stored, err := e.Get(t.Context(), protocol.TransferParams{ID: "x"}); err != nil || stored.State != protocol.TransferFailed {
		t.Errorf("the history says %s, %v", stored.State, err)
	}
}
