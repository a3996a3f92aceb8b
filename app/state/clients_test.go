package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func TestWindowsThatAreLetInComeBeforeThoseThatAreNot(t *testing.T) {
	p := feed.Pairing{DeviceListResult: protocol.DeviceListResult{Devices: []protocol.Device{
		{ID: "r", Name: "a", Role: protocol.RoleClient, RevokedAt: 5},
		{ID: "m", Name: "b", Role: protocol.RoleNode},
		{ID: "t", Name: "tablet", Role: protocol.RoleClient},
		{ID: "p", Name: "Phone", Role: protocol.RoleClient},
	}}}
	var ids []protocol.DeviceID
	for _, d := range p.Clients() {
		ids = append(ids, d.ID)
	}
	if !slices.Equal(ids, []protocol.DeviceID{"p", "t", "r"}) {
		t.Error(ids)
	}
	if _, ok := p.Client("m"); ok {
		t.Error("a machine is shown as a window")
	}
}

func TestRightsOfAWindowAreSaidInWords(t *testing.T) {
	for want, scopes := range map[string][]protocol.Scope{
		"do nothing": nil, "view": {protocol.ScopeRead}, "view and chat": {protocol.ScopeChat, protocol.ScopeRead},
		"view, chat and answer approvals": {protocol.ScopeRead, protocol.ScopeChat, protocol.ScopeApprove},
		"do everything you can":           {protocol.ScopeRead, protocol.ScopeChat, protocol.ScopeInvoke, protocol.ScopeApprove, protocol.ScopeAdmin},
	} {
		if got := RightsText(scopes); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestLineOfAWindowSaysWhatItMayAndUntilWhen(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	d := protocol.Device{ID: "d", Name: "tablet", Scopes: []protocol.Scope{protocol.ScopeRead}, OS: "darwin", Address: "10.0.0.9"}
	own := protocol.DeviceID("other")
	presence := func(want, line string) {
		t.Helper()
		if got := ClientPresence(feed.View{Status: feed.Status{Device: own}}, d, now); got != want {
			t.Errorf("presence %q, want %q", got, want)
		}
		if got := ClientLine(d, now); got != line {
			t.Errorf("line %q, want %q", got, line)
		}
	}
	presence("never connected", "May view · macOS · 10.0.0.9")
	d.LastSeenAt, d.ExpiresAt = now.Add(-24*time.Hour).UnixMilli(), now.Add(24*time.Hour).UnixMilli()
	presence("offline, last seen yesterday", "May view until tomorrow at 12:00 · macOS · 10.0.0.9")
	d.Online = true
	presence("online", "May view until tomorrow at 12:00 · macOS · 10.0.0.9")
	own = d.ID
	presence("this device", "May view until tomorrow at 12:00 · macOS · 10.0.0.9")
	d.ExpiresAt = now.UnixMilli()
	presence("expired", "macOS · 10.0.0.9")
	d.RevokedAt = now.UnixMilli()
	presence("revoked", "macOS · 10.0.0.9")
}

func TestFactsOfAWindowTellItsKeyAndWhatElseTheDeviceIs(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	d := protocol.Device{
		ID: "c", Name: "tablet", Role: protocol.RoleClient, Fingerprint: "f", Words: []string{"cobalt", "otter"}, OS: "linux", Hostname: "tab", Address: "10.0.0.9", Version: "1.0",
		PairedAt: now.Add(-24 * time.Hour).UnixMilli(), PairedBy: "owner (command line)", LastSeenAt: now.UnixMilli(), RotatedAt: 1,
	}
	p := feed.Pairing{DeviceListResult: protocol.DeviceListResult{Devices: []protocol.Device{d, {ID: "n", Role: protocol.RoleNode, NodeID: "nas", Fingerprint: "f"}}}}
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Name: "The box"}}}
	has := func(want ...string) {
		t.Helper()
		facts := fmt.Sprint(ClientFacts(p, v, d, now))
		for _, want := range want {
			if !strings.Contains(facts, want) {
				t.Errorf("no %s in %s", want, facts)
			}
		}
	}
	has("{Status Offline, last seen just now}", "{Access Until revoked}", "{Permissions Do nothing}", "{Fingerprint cobalt-otter}", "{System Linux}", "{Host tab, 10.0.0.9}", "{Token Replaced", "{Paired Yesterday at 12:00 on the command line}", "is also the machine The box,")
	d.RevokedAt, d.RevokedBy = now.UnixMilli(), "owner this computer"
	has("{Status Revoked 12:00 on this computer}", "{Last seen 12:00}")
	d.RevokedAt, d.ExpiresAt = 0, now.Add(time.Hour).UnixMilli()
	has("{Access Until 13:00}")
	d.ExpiresAt = now.Add(-time.Hour).UnixMilli()
	has("{Status Expired 11:00}")
}

func TestWindowsAreRenamedRevokedAndForgotten(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *App, f *feedtest.Gateway) {
		a.Pairings.RenameClient(protocol.Device{ID: "c", Hostname: "tab"}, " ")
		if err := a.Pairings.RevokeClient(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		if err := a.Pairings.ForgetClient(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for method, want := range map[string]string{protocol.DeviceUpdate.Name: `"name":"tab"`, protocol.DeviceRevoke.Name: `"deviceId":"c"`, protocol.DeviceForget.Name: `"deviceId":"c"`} {
			if list := f.Called(method); len(list) != 1 || !strings.Contains(string(list[0]), want) {
				t.Errorf("%s: %s", method, list)
			}
		}
	})
}

func TestThisWindowLeavesWhenItIsRevoked(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *App, f *feedtest.Gateway) {
		a.Status.Update(func(s *feed.Status) { s.Device = "own" })
		if err := a.Pairings.RevokeClient(t.Context(), "own"); err != nil {
			t.Fatal(err)
		}
		if left, revoked := len(f.Called(protocol.DeviceLeave.Name)), len(f.Called(protocol.DeviceRevoke.Name)); left != 1 || revoked != 0 {
			t.Errorf("it left %d times and was revoked %d times, and its connection ends before the answer", left, revoked)
		}
	})
}
