package machine

import (
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

func TestPresenceIsShownAsMeasured(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for want, n := range map[string]protocol.NodeInfo{
		"this computer": {Online: true, Local: true, PingMs: 2}, "under 1 ms": {Online: true, PingMs: 0.3}, "12 ms": {Online: true, PingMs: 12.4}, "online": {Online: true},
		"never connected": {}, "offline, last seen yesterday": {LastSeenAt: now.Add(-24 * time.Hour).UnixMilli()}, "offline, last seen just now": {LastSeenAt: now.Add(-4 * time.Second).UnixMilli()},
	} {
		if got := Presence(feed.View{}, n, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Presence(feed.View{Status: feed.Status{Remote: true}}, protocol.NodeInfo{Online: true, Local: true}, now); got != "the gateway's computer" {
		t.Errorf(`seen from elsewhere it is %q, want "the gateway's computer"`, got)
	}
}
