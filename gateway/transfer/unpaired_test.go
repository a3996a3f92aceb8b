package transfer_test

import (
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/transfer"
)

func TestTransfersEndWithThePairing(t *testing.T) {
	inBubble(t, doNothing, func(s *testEngine) {
		s.connectNode("a", s.reportSizeAfter(100, 0))
		s.connectNode("b", s.acceptThen(nil))
		s.connectNode("c", s.acceptThen(nil))
		id, other := s.start(), s.startTo("c:y")
		advanceTime(time.Second)
		if tr := s.get(id); tr.State != protocol.TransferRunning {
			s.t.Fatalf("got %s, error %q, want running", tr.State, tr.Error)
		}
		s.e.EndDevice(protocol.Device{ID: "d", NodeID: "b"})
		advanceTime(time.Second)
		if tr := s.get(id); tr.State != protocol.TransferFailed || tr.Error != "b is no longer paired" {
			s.t.Errorf("got %s, error %q, want that b is no longer paired", tr.State, tr.Error)
		}
		if tr := s.get(other); tr.State != protocol.TransferRunning {
			s.t.Errorf("another one: got %s, error %q, want running", tr.State, tr.Error)
		}
	})
}

func TestTransfersEndWithTheAccessOfTheirApp(t *testing.T) {
	inBubble(t, doNothing, func(s *testEngine) {
		s.connectNode("a", s.reportSizeAfter(100, 0))
		s.connectNode("b", s.acceptThen(nil))
		start := func(app protocol.AppID, destination string) protocol.TransferID {
			tr, err := s.e.Start(s.t.Context(), transfer.Request{App: app, TransferStartParams: protocol.TransferStartParams{Sources: []string{"a:x"}, Destination: destination, Later: true}})
			if err != nil {
				s.t.Fatal(err)
			}
			return tr.ID
		}
		running, waiting, others := start("app1", "b:y"), start("app1", "off:y"), start("app2", "b:z")
		paused := start("app1", "b:p")
		if _, err := s.e.Pause(s.t.Context(), protocol.TransferParams{ID: paused}); err != nil {
			s.t.Fatal(err)
		}
		advanceTime(time.Second)
		s.e.CancelOf("app1")
		advanceTime(time.Second)
		for name, id := range map[string]protocol.TransferID{"running": running, "waiting": waiting, "paused": paused} {
			if tr := s.get(id); tr.State != protocol.TransferFailed || tr.Error != "The app that queued it may not transfer files any more" {
				s.t.Errorf("the %s one: got %s, error %q, want that the app may not transfer", name, tr.State, tr.Error)
			}
		}
		if tr := s.get(others); tr.State != protocol.TransferRunning {
			s.t.Errorf("that of another app: got %s: %s, want running", tr.State, tr.Error)
		}
	})
}
