package transfer_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// Reports of a node go to the database and to every window, so they are limited.
func TestTextsOfAMachineAreTruncated(t *testing.T) {
	long := strings.Repeat("long ", 20<<10)
	inBubble(t, doNothing, func(s *testEngine) {
		s.connectNode("a", s.reportSizeAfter(100, 0))
		var seen protocol.Transfer
		var id protocol.TransferID
		s.connectNode("b", s.acceptThen(func(p *scriptedNode, n uint32) {
			s.frame(p, n, progress(1<<31, -1<<40, "y"))
			synctest.Wait()
			seen = s.get(id)
			less := int64(-7)
			problems := make([]protocol.TransferProblem, 200)
			for i := range problems {
				problems[i] = protocol.TransferProblem{Path: long, Text: long}
			}
			proceed, _ := s.e.Relays().Done(p, protocol.TransferDoneParams{
				TransferID: &n, BytesWritten: &less, Files: -3, Skipped: -3, Failed: 1, Kept: -3, Problems: problems, Path: long,
			})
			proceed()
		}))
		id = s.start()
		advanceTime(time.Second)
		if seen.BytesDone != 0 {
			s.t.Errorf("got %d bytes, want 0", seen.BytesDone)
		}
		tr := s.get(id)
		if tr.State != protocol.TransferFailed || tr.FilesDone < 0 || tr.Skipped != 0 || tr.Kept != 0 || tr.BytesDone < 0 || tr.Bytes < 0 || len(tr.Problems) != 50 {
			s.t.Errorf("got %s, %d files, %d skipped, %d kept, %d of %d bytes, %d problems, want failed, no negative number, 50 problems", tr.State, tr.FilesDone, tr.Skipped, tr.Kept, tr.BytesDone, tr.Bytes, len(tr.Problems))
		}
		if n := len(tr.Error) + len(tr.Path) + len(tr.Problems[0].Path) + len(tr.Problems[0].Text); n > 64<<10 {
			s.t.Errorf("got %d bytes of text, want at most %d", n, 64<<10)
		}
		s.connectNode("a", s.reportSizeAfter(-1, 0))
		id = s.start()
		advanceTime(time.Second)
		if tr := s.get(id); tr.State != protocol.TransferFailed || !strings.Contains(tr.Error, "a negative size") {
			s.t.Errorf("got %s, error %q, want a negative size", tr.State, tr.Error)
		}
	})
}

// A source that knows only the basic protocol cannot fill a disk by sending more than it announced.
func TestASourceThatSendsMoreThanItAnnouncedIsStopped(t *testing.T) {
	inBubble(t, useBasicProtocol, func(s *testEngine) {
		count := s.reportSizeAfter(10, 0)
		s.connectNode("a", func(p *scriptedNode, event string, id uint32) {
			count(p, event, id)
			if event == protocol.EventTransferStart {
				for range 100 {
					s.frame(p, id, make([]byte, 7))
					synctest.Wait()
				}
			}
		})
		b := s.connectNode("b", s.acceptThen(nil))
		id := s.start()
		advanceTime(time.Second)
		if tr := s.get(id); tr.State != protocol.TransferFailed || !strings.HasPrefix(tr.Error, "The source announced 10 bytes but sends more") {
			s.t.Errorf("got %s, error %q, want more than announced", tr.State, tr.Error)
		}
		if b.got.Load() != 7 {
			s.t.Errorf("got %d bytes at the destination, want 7", b.got.Load())
		}
	})
}
