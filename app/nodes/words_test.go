package nodes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

func TestFactsNameTheFoldersAndWhatMayBeDoneThere(t *testing.T) {
	n := protocol.NodeInfo{ID: "nas", Name: "The box", Online: true, PingMs: 3, Tools: []string{"Bash", "Read"}, Held: []string{"Write"}, Host: &protocol.HostInfo{
		OS: "Debian 12", Arch: "arm64",
		Workspace: "/srv", Folders: []protocol.Folder{{Path: "/srv"}, {Path: "/photos", ReadOnly: true}},
	}}
	facts := fmt.Sprint(factsOf(feed.View{}, n, time.Now()))
	for _, want := range []string{"{System Debian 12, arm64}", "{Workspace /srv}", "{Folder /photos (read only)}", "{Tools Bash, Read}", "{Need your approval Write}"} {
		if !strings.Contains(facts, want) {
			t.Errorf("no %s in %s", want, facts)
		}
	}
	if strings.Contains(facts, "{Folder /srv}") {
		t.Error("the workspace is named twice")
	}
	v := feed.View{Machines: []protocol.NodeInfo{n}, Calls: []protocol.CallInfo{{CallID: "1", Node: "nas", State: protocol.CallRunning}, {CallID: "2", Node: "other", State: protocol.CallRunning}}}
	if got, want := machineLine(v, n), "Debian 12, arm64 · 1 call running · 1 tool needs your approval"; got != want {
		t.Errorf("MachineLine: got %q, want %q", got, want)
	}
	if strings.Contains(facts, "{Transfers") {
		t.Error("files go straight to a machine whose owner did not say so")
	}
	n.Direct = true
	if !strings.Contains(fmt.Sprint(factsOf(feed.View{}, n, time.Now())), "{Transfers Go directly") {
		t.Error("nobody says that files go straight to it")
	}
	if n.DisplayName() != "The box" {
		t.Errorf("got %v, want %q", n.DisplayName(), "The box")
	}
}

func TestWindowLineShowsRightsAndExpiry(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	d := protocol.Device{ID: "d", Name: "tablet", Scopes: []protocol.Scope{protocol.ScopeRead}, OS: "darwin", Address: "10.0.0.9"}
	own := protocol.DeviceID("other")
	presence := func(want, line string) {
		t.Helper()
		if got := clientPresence(feed.View{Status: feed.Status{Device: own}}, d, now); got != want {
			t.Errorf("presence %q, want %q", got, want)
		}
		if got := clientLine(d, now); got != line {
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

func TestWindowFactsShowTheKeyAndOtherRoles(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	d := protocol.Device{
		ID: "c", Name: "tablet", Role: protocol.RoleClient, Fingerprint: "f", Words: []string{"cobalt", "otter"}, OS: "linux", Hostname: "tab", Address: "10.0.0.9", Version: "1.0",
		PairedAt: now.Add(-24 * time.Hour).UnixMilli(), PairedBy: "owner (command line)", LastSeenAt: now.UnixMilli(), RotatedAt: 1,
	}
	p := feed.Pairing{DeviceListResult: protocol.DeviceListResult{Devices: []protocol.Device{d, {ID: "n", Role: protocol.RoleNode, NodeID: "nas", Fingerprint: "f"}}}}
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Name: "The box"}}}
	has := func(want ...string) {
		t.Helper()
		facts := fmt.Sprint(clientFacts(p, v, d, now))
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

func TestPairingResultsAreShownInWords(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for i, want := range []int64{0, now.AddDate(0, 0, 1).UnixMilli(), now.AddDate(0, 0, 7).UnixMilli()} {
		if got := accessPeriods[i].expiry(now); got != want {
			t.Errorf("%s is %d, want %d", accessPeriods[i].Text, got, want)
		}
	}
	d := protocol.Device{Name: "tablet", Role: protocol.RoleClient}
	says := func(until int64, want string) {
		t.Helper()
		v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Name: "The box"}}}
		if got := accessText(v, d, until, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	says(0, "“tablet” has access until you revoke it.")
	says(now.UnixMilli(), "Access for “tablet” has ended.")
	d = protocol.Device{Name: "vm", Role: protocol.RoleNode, NodeID: "nas", ExpiresAt: 1}
	says(accessPeriods[1].expiry(now), "“The box” has access until tomorrow at 12:00. Restart it there.")
}

func TestMachineFactsShowTheExpiryOfTrust(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	n := protocol.NodeInfo{ID: "nas", Device: "d"}
	d := protocol.Device{ID: "d", Role: protocol.RoleNode, PairedAt: now.Add(-24 * time.Hour).UnixMilli(), PairedBy: "owner (command line)"}
	facts := func() string {
		return fmt.Sprint(pairedFacts(feed.Pairing{DeviceListResult: protocol.DeviceListResult{Devices: []protocol.Device{d}}}, feed.View{}, n, now))
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
		t.Errorf("a revoked machine: got %s, want no access", got)
	}
	n.Device = ""
	if strings.Contains(facts(), "Paired") {
		t.Errorf("a machine that is not paired is: %s", facts())
	}
}
