package transfer_test

import (
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestWhatIsUnderWayToAMachineEndsWithItsPairing(t *testing.T) {
	onStage(t, none, func(s *stage) {
		s.comes("a", s.source(100, 0))
		s.comes("b", s.accepts(nil))
		s.comes("c", s.accepts(nil))
		id, other := s.start(), s.startTo("c:y")
		rest(time.Second)
		if tr := s.get(id); tr.State != protocol.TransferRunning {
			s.t.Fatalf("%s: %s", tr.State, tr.Error)
		}
		s.e.Unpaired(protocol.Device{ID: "d", NodeID: "b"})
		rest(time.Second)
		if tr := s.get(id); tr.State != protocol.TransferFailed || tr.Error != "b is no longer paired" {
			s.t.Errorf("%s: %s", tr.State, tr.Error)
		}
		if tr := s.get(other); tr.State != protocol.TransferRunning {
			s.t.Errorf("another one's: %s: %s", tr.State, tr.Error)
		}
	})
}
