package stream

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// The gateway considers an end stuck after a minute of silence, and a slow disk may need longer to
// write its cache.
func TestEndThatWaitsForItsDiskSendsKeepalives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last, longest := time.Now(), time.Duration(0)
		hear := func(_ context.Context, f *Frame) error {
			longest, last = max(longest, time.Since(last)), time.Now()
			f.Free()
			return nil
		}
		r := &Receiver{ID: 1, Progress: hear}
		r.withKeepAlive(t.Context(), func() error {
			time.Sleep(5 * time.Minute)
			return nil
		})
		if longest > 2*aliveEvery {
			t.Errorf("it is silent for %s, want at most %s", longest, 2*aliveEvery)
		}
	})
}

// reportReceiver is the gateway of a destination; it receives the final report.
type reportReceiver struct {
	done chan protocol.TransferDoneParams
}

func (e reportReceiver) Report(_ context.Context, _ string, params any, _ bool) error {
	if p, ok := params.(protocol.TransferDoneParams); ok {
		e.done <- p
	}
	return nil
}

func (e reportReceiver) SendFrame(_ context.Context, f *Frame) error {
	f.Free()
	return nil
}

func TestMoreThanWasAnnouncedIsNotWritten(t *testing.T) {
	home := t.TempDir()
	end := reportReceiver{make(chan protocol.TransferDoneParams, 1)}
	e := NewEnds(Options{Files: Disk{home}, Peer: end})
	defer e.Close()
	event(e, protocol.EventTransferReceive, protocol.TransferReceive{TransferID: 7, Path: filepath.Join(home, "x"), Size: 10})
	for range 3 { // the end record never arrives
		f := newFrame(7)
		f.buf = append(f.buf, "seven b"...)
		e.Binary(f)
	}
	if done := waitUntil(t, end.done, "its last word"); !strings.Contains(done.Error, "more than the announced 10 bytes") || *done.BytesWritten > 14 {
		t.Errorf("got %q after %d bytes, want a complaint about more than 10, and at most 14", done.Error, *done.BytesWritten)
	}
	e.Close()
	if list, err := os.ReadDir(home); err != nil || len(list) != 0 {
		t.Errorf("left: got %v, %v; want no error and none", list, err)
	}
}
