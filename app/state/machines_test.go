package state

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestPresenceIsSaidAsMeasured(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for want, n := range map[string]protocol.NodeInfo{
		"this computer": {Online: true, Local: true, PingMs: 2}, "under 1 ms": {Online: true, PingMs: 0.3}, "12 ms": {Online: true, PingMs: 12.4}, "online": {Online: true},
		"never seen": {}, "last seen yesterday at 12:00": {LastSeenAt: now.Add(-24 * time.Hour).UnixMilli()},
	} {
		if got := PresenceText(View{}, n, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := PresenceText(View{Remote: true}, protocol.NodeInfo{Online: true, Local: true}, now); got != "the gateway's computer" {
		t.Errorf("seen from elsewhere it is %q", got)
	}
}

func TestFactsNameTheFoldersAndWhatMayBeDoneThere(t *testing.T) {
	n := protocol.NodeInfo{ID: "nas", Name: "The box", Online: true, PingMs: 3, Tools: []string{"Bash", "Read"}, Held: []string{"Write"}, Host: &protocol.HostInfo{
		OS: "Debian 12", Arch: "arm64",
		Workspace: "/srv", Folders: []protocol.Folder{{Path: "/srv"}, {Path: "/photos", ReadOnly: true}},
	}}
	facts := fmt.Sprint(FactsOf(View{}, n, time.Now()))
	for _, want := range []string{"{System Debian 12, arm64}", "{Workspace /srv}", "{Folder /photos (read only)}", "{Tools Bash, Read}", "{Pending tools Write}"} {
		if !strings.Contains(facts, want) {
			t.Errorf("no %s in %s", want, facts)
		}
	}
	if strings.Contains(facts, "{Folder /srv}") {
		t.Error("the workspace is named twice")
	}
	v := View{Nodes: []protocol.NodeInfo{n}, Calls: []protocol.CallInfo{{CallID: "1", Node: "nas", State: protocol.CallRunning}, {CallID: "2", Node: "other", State: protocol.CallRunning}}}
	if got := MachineLine(v, n); got != "Debian 12, arm64 · 1 call running · 1 tool needs your approval" {
		t.Error(got)
	}
	if strings.Contains(facts, "{Transfers") {
		t.Error("files go straight to a machine whose owner did not say so")
	}
	n.Direct = true
	if !strings.Contains(fmt.Sprint(FactsOf(View{}, n, time.Now())), "{Transfers Direct transfers") {
		t.Error("nobody says that files go straight to it")
	}
	if NameOf(n) != "The box" {
		t.Error(NameOf(n))
	}
}

func TestForgottenMachineAndEndedTransferLeaveTheView(t *testing.T) {
	bubble(t, func(f *fake) {
		f.snap.Nodes = []protocol.NodeInfo{{ID: "a"}, {ID: "b"}}
		f.snap.Transfers = []protocol.Transfer{{ID: "t", State: protocol.TransferRunning}}
	}, func(t *testing.T, a *App, f *fake) {
		before := a.Value.Get()
		f.change(protocol.Change{Kind: protocol.ChangeNodeForgotten, Node: &protocol.NodeInfo{ID: "a"}}, protocol.Change{Kind: protocol.ChangeDevices},
			protocol.Change{Kind: protocol.ChangeTransfer, Transfer: &protocol.Transfer{ID: "u", State: protocol.TransferQueued}},
			protocol.Change{Kind: protocol.ChangeTransfer, Transfer: &protocol.Transfer{ID: "t", State: protocol.TransferDone}})
		v := a.Value.Get()
		if len(v.Nodes) != 1 || v.Nodes[0].ID != "b" || v.DevicesChanged != before.DevicesChanged+1 {
			t.Errorf("nodes %v", v.Nodes)
		}
		if len(v.Transfers) != 1 || v.Transfers[0].ID != "u" || v.HistoryChanged != before.HistoryChanged+1 {
			t.Errorf("transfers %v", v.Transfers)
		}
	})
}

func TestPairedMachineIsRevokedBeforeItIsForgotten(t *testing.T) {
	bubble(t, nil, func(t *testing.T, a *App, f *fake) {
		if err := a.Machines.Forget(t.Context(), protocol.NodeInfo{ID: "nas", Device: "d1"}); err != nil {
			t.Fatal(err)
		}
		if err := a.Machines.Forget(t.Context(), protocol.NodeInfo{ID: "old"}); err != nil {
			t.Fatal(err)
		}
		if n := len(f.called(protocol.DeviceRevoke.Name)); n != 1 {
			t.Errorf("revoked %d times", n)
		}
		if list := f.called(protocol.NodeForget.Name); len(list) != 2 || !strings.Contains(string(list[0]), `"force":true`) {
			t.Errorf("forgotten %s", list)
		}
	})
}

func TestWhoTakesAMachineAwayHearsThatItsWindowsAreLetIn(t *testing.T) {
	bubble(t, func(f *fake) {
		on(f, protocol.DeviceRevoke, func(protocol.DeviceParams) (protocol.Device, error) {
			return protocol.Device{ID: "d1", Fingerprint: "f1", RevokedAt: 1}, nil
		})
		on(f, protocol.DeviceList, func(protocol.Empty) (protocol.DeviceListResult, error) {
			return protocol.DeviceListResult{Devices: []protocol.Device{
				{ID: "d1", Fingerprint: "f1", RevokedAt: 1},
				{ID: "d2", Fingerprint: "f2", Name: "other"},
				{ID: "d1-client", Fingerprint: "f1", Name: "laptop"},
			}}, nil
		})
	}, func(t *testing.T, a *App, f *fake) {
		if err := a.Machines.Forget(t.Context(), protocol.NodeInfo{ID: "laptop", Device: "d1"}); err != nil {
			t.Fatal(err)
		}
		if n := a.Value.Get().Notice; n == nil || n.Text != "laptop can still control Fairlead. To end that too, revoke it under Machines, Paired devices." {
			t.Errorf("%+v", n)
		}
	})
}

func TestRequestsAreSaidInWords(t *testing.T) {
	r := protocol.DeviceRequest{Kind: protocol.RequestPair, Device: protocol.Device{Hostname: "nas", OS: "Debian 12", Address: "10.0.0.3"}}
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	if got := RequestText(r, now); got != "nas wants to pair as a machine (Debian 12, 10.0.0.3)" {
		t.Error(got)
	}
	r.Device.ExpiresAt = now.Add(24 * time.Hour).UnixMilli()
	if got := RequestText(r, now); got != "nas wants to pair as a machine (Debian 12, 10.0.0.3), until tomorrow at 12:00" {
		t.Error(got)
	}
	r.Device.Role, r.Device.Scopes = protocol.RoleClient, []protocol.Scope{protocol.ScopeRead, protocol.ScopeChat}
	if got := RequestText(r, now); got != "nas wants to pair as a device that may view and chat (Debian 12, 10.0.0.3), until tomorrow at 12:00" {
		t.Error(got)
	}
	r.Kind, r.Wider = protocol.RequestWiden, []string{"the tool Write"}
	if got := RequestText(r, now); got != "nas offers more than you allowed: the tool Write" {
		t.Error(got)
	}
}
