package discovery

import (
	"context"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/polltest"
)

const (
	tower = identity.Pin("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	other = identity.Pin("BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
)

func TestTagRevealsNothingAndChangesEachDay(t *testing.T) {
	at := time.Date(2026, 5, 1, 23, 0, 0, 0, time.UTC)
	today, tomorrow := tag(tower, at), tag(tower, at.Add(2*time.Hour))
	if today == tomorrow || today == tag(other, at) || len(today) != 16 || strings.Contains(today, "fairlead") {
		t.Errorf(`got %s, %s; want today other than %v, today other than %v, length 16 and no "fairlead"`, today, tomorrow, tomorrow, tag(other, at))
	}
	for _, now := range []time.Time{at, at.Add(2 * time.Hour), at.Add(-20 * time.Hour)} {
		found := false
		for _, one := range tags(tower, now) {
			found = found || one == today
		}
		if !found {
			t.Errorf("a device whose clock says %s does not know the tag", now)
		}
	}
}

func TestAGatewayIsFoundByThoseWhoKnowItsKey(t *testing.T) {
	if len(interfaces()) == 0 {
		t.Skip("this machine is on no network that takes multicast")
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		Announce(ctx, tower, 4711)
	}()
	defer func() { cancel(); <-done }()
	var mine, all []string
	polltest.Until(t, "the gateway is found", func() bool { // datagrams can get lost or be late
		mine, all = Find(t.Context(), tower), Find(t.Context(), "")
		return len(mine) > 0 && len(all) > 0
	})
	if !strings.HasSuffix(mine[0], ":4711") {
		t.Fatalf("found %v, all %v; want port 4711", mine, all)
	}
	if got := Find(t.Context(), other); len(got) != 0 {
		t.Errorf("another gateway is at %v", got)
	}
}
