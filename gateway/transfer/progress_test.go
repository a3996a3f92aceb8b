package transfer

import (
	"testing"

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
