package state

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestTheEndOfAPairingIsSetAndTakenBack(t *testing.T) {
	bubble(t, func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.DeviceUpdate, func(p protocol.DeviceUpdateParams) (protocol.Device, error) {
			if *p.ExpiresAt > 100 {
				return protocol.Device{}, protocol.ErrForbidden.With("this device is paired until then")
			}
			return protocol.Device{}, nil
		})
	}, func(t *testing.T, a *App, f *feedtest.Gateway) {
		d := protocol.Device{ID: "tab", ExpiresAt: 50}
		undo, err := a.Pairings.SetExpiry(t.Context(), d, 0)
		if err != nil {
			t.Fatal(err)
		}
		undo()
		synctest.Wait()
		var sent []string
		for _, p := range f.Called(protocol.DeviceUpdate.Name) {
			sent = append(sent, string(p))
		}
		if got, want := strings.Join(sent, " "), `{"deviceId":"tab","expiresAt":0} {"deviceId":"tab","expiresAt":50}`; got != want {
			t.Errorf("Join: got %q, want %q", got, want)
		}
		if undo, err := a.Pairings.SetExpiry(t.Context(), d, 200); undo != nil || err == nil || !strings.Contains(err.Error(), "paired until then") {
			t.Errorf("a refused end: %v", err)
		}
	})
}

func TestEndsOfPairingsAreSaidInWords(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for i, want := range []int64{0, now.AddDate(0, 0, 1).UnixMilli(), now.AddDate(0, 0, 7).UnixMilli()} {
		if got := AccessPeriods[i].Expiry(now); got != want {
			t.Errorf("%s is %d, want %d", AccessPeriods[i].Text, got, want)
		}
	}
	d := protocol.Device{Name: "tablet", Role: protocol.RoleClient}
	says := func(until int64, want string) {
		t.Helper()
		v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Name: "The box"}}}
		if got := AccessText(v, d, until, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	says(0, "“tablet” has access until you revoke it.")
	says(now.UnixMilli(), "Access for “tablet” has ended.")
	d = protocol.Device{Name: "vm", Role: protocol.RoleNode, NodeID: "nas", ExpiresAt: 1}
	says(AccessPeriods[1].Expiry(now), "“The box” has access until tomorrow at 12:00. Restart it there.")
}

func TestFactsOfAMachineTellUntilWhenItIsLetIn(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	n := protocol.NodeInfo{ID: "nas", Device: "d"}
	d := protocol.Device{ID: "d", Role: protocol.RoleNode, PairedAt: now.Add(-24 * time.Hour).UnixMilli(), PairedBy: "owner (command line)"}
	facts := func() string {
		return fmt.Sprint(PairedFacts(feed.Pairing{DeviceListResult: protocol.DeviceListResult{Devices: []protocol.Device{d}}}, feed.View{}, n, now))
	}
	has := func(want ...string) {
		t.Helper()
		for _, want := range want {
			if got := facts(); !strings.Contains(got, want) {
				t.Errorf("no %s in %s", want, got)
			}
		}
	}
	has("{Status Never connected} {Access Until revoked}", "{Paired Yesterday at 12:00 on the command line}")
	d.ExpiresAt = now.Add(time.Hour).UnixMilli()
	has("{Access Until 13:00}")
	d.ExpiresAt = now.Add(-time.Hour).UnixMilli()
	has("{Status Expired 11:00}")
	d.RevokedAt, d.RevokedBy = now.UnixMilli(), "owner this computer"
	has("{Status Revoked 12:00 on this computer}")
	if got := facts(); strings.Contains(got, "Allow") {
		t.Errorf("it is let in: %s", got)
	}
	n.Device = ""
	if strings.Contains(facts(), "Paired") {
		t.Errorf("a machine that is not paired is: %s", facts())
	}
}
