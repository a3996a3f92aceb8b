package feed

import (
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestRefusedPairingIsExplained(t *testing.T) {
	now := time.Now()
	for want, r := range map[string]protocol.DeviceRefused{
		"vm revoked this computer's access 5 min ago.":                        {Reason: protocol.RefusedRevoked, By: "owner (command line)", At: now.Add(-5 * time.Minute).UnixMilli()},
		"vm revoked this computer's access.":                                  {Reason: protocol.RefusedRevoked},
		"This computer's access to vm was for a limited time, which is over.": {Reason: protocol.RefusedExpired},
		"vm removed this computer.":                                           {Reason: protocol.RefusedUnknown},
	} {
		t.Run(want, func(t *testing.T) {
			if got := RefusedText("vm", r, now); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
