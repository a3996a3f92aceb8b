package transfer

import (
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// The clock is set while a transfer waits, which is simulated by storing another expiry.
func TestATransferWaitsIndependentlyOfTheClock(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, 24 * time.Hour, 10 * 365 * 24 * time.Hour, 280 * 365 * 24 * time.Hour} {
		now := time.Now()
		v := &live{row: store.Transfer{Transfer: protocol.Transfer{ExpiresAt: now.Add(2 * time.Hour).UnixMilli()}}}
		late := func(after time.Duration) bool { return v.isExpiredLocked(now.Add(after)) }
		if late(0) || late(time.Hour) {
			t.Fatal("it is over before its time")
		}
		v.row.ExpiresAt += jump.Milliseconds()
		v.expiryOf += jump.Milliseconds()
		if late(time.Hour + 59*time.Minute) {
			t.Errorf("%s back: got an end before its time, want none", jump)
		}
		if !late(2 * time.Hour) {
			t.Errorf("%s back: got no end, want one", jump)
		}
		v.row.ExpiresAt = now.Add(4 * time.Hour).UnixMilli() // the expiry is extended
		if late(3*time.Hour) || !late(4*time.Hour) {
			t.Errorf("%s back: got an end at another time, want it at the later one", jump)
		}
		v.row.ExpiresAt = 0
		if late(1000 * time.Hour) {
			t.Error("one that nobody limits is over")
		}
	}
}
