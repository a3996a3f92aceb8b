package nodes

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/pagetest"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func windows() feed.Pairing {
	return feed.Pairing{DeviceListResult: protocol.DeviceListResult{Devices: []protocol.Device{
		{ID: "d", Name: "nas", Role: protocol.RoleNode, NodeID: "nas", Fingerprint: "f"},
		{
			ID: "tab", Name: "Tablet", Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeChat}, Words: []string{"cobalt", "otter", "lamp", "nine"}, OS: "linux",
			Hostname: "tab", Address: "10.0.0.9", Version: "1.0", PairedAt: pagetest.Noon.Add(-24 * time.Hour).UnixMilli(), PairedBy: "owner this computer", Online: true,
			ExpiresAt: pagetest.Noon.Add(24 * time.Hour).UnixMilli(),
		},
		{ID: "own", Name: strings.Repeat("a long name ", 5), Role: protocol.RoleClient, Scopes: protocol.ClientScopes, OS: "darwin", Online: true},
		{ID: "gone", Name: "Old phone", Role: protocol.RoleClient, RevokedAt: 1},
	}}}
}

// withWindows is a page of machines and windows, the second of which is this one.
func withWindows(t *testing.T) *bench {
	t.Helper()
	p := newTestPage(t)
	v := machines()
	v.Status.Device = "own"
	p.show(v)
	showPairing(p, windows())
	return p
}

func TestWindowsMatchGolden(t *testing.T) {
	p := withWindows(t)
	w := pagetest.Window(t, p.Box, 520, 700)
	golden.Markup(t, "windows", p.Box)
	pagetest.Shot(t, w, "windows-520")
	p.List.Select(len(p.view.Machines) + 2)
	golden.Markup(t, "window", p.Box)
	pagetest.Shot(t, w, "window-520")
}

func TestListHasNoWindowsSectionWithoutWindows(t *testing.T) {
	p := withWindows(t)
	pagetest.Shows(t, p.Box, "CONTROLLERS", "Tablet")
	r := windows()
	r.Devices = r.Devices[:1]
	showPairing(p, r)
	if s := test.RenderObjectToMarkup(p.Box); strings.Contains(s, "WINDOWS") || len(p.List.Items()) != len(p.view.Machines) {
		t.Errorf(`got %v; want no "WINDOWS" and List.Items of length %v`, s, len(p.view.Machines))
	}
}

func TestAControllerThatIsForgottenIsNotShown(t *testing.T) {
	p := withWindows(t)
	p.openClient("tab")
	showPairing(p, feed.Pairing{})
	if p.client != nil || p.clients != nil {
		t.Error("a window that was forgotten is shown")
	}
}

func TestRevokingAndForgettingAWindowAsksForConfirmation(t *testing.T) {
	p := withWindows(t)
	for id, want := range map[protocol.DeviceID][2]string{
		"tab": {"Revoke access", "Revoke access for “Tablet”?"}, "own": {"Revoke access", "Revoke access for this device?"}, "gone": {"Remove", "Remove “Old phone” from the list?"},
	} {
		p.openClient(id)
		test.Tap(pagetest.Button(t, p.Box, want[0]))
		pagetest.Shows(t, p.Box, want[1])
		if !p.Back() || p.client == nil || p.client.bar.Confirming != "" {
			t.Errorf("%s: it is still about to be ended, or was left", id)
		}
	}
	if !p.Back() || p.client != nil || p.Back() {
		t.Error("the way back is not there, or there twice")
	}
}

func TestLateResultDoesNotChangeThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := withWindows(t)
		for _, ask := range []func(){
			func() { p.Open("old"); test.Tap(pagetest.Button(t, p.Box, "Remove")) },
			func() { p.openClient("gone"); test.Tap(pagetest.Button(t, p.Box, "Remove")) },
		} {
			ask()
			test.Tap(pagetest.Button(t, p.Box, "Remove"))
			p.openClient("tab")
			pagetest.Settle()
			if len(p.host.Did) != 1 {
				t.Fatalf("got %q, want one message that it failed", p.host.Did)
			}
			pagetest.Button(t, p.Box, "Revoke access")
			p.host.Did = nil
		}
	})
}

func TestUpdatesDoNotDisturbRenamingAWindow(t *testing.T) {
	p := withWindows(t)
	w := pagetest.Window(t, p.Box, 520, 500)
	p.openClient("tab")
	test.Tap(pagetest.Button(t, p.Box, "Rename"))
	field := w.Canvas().Focused()
	if _, ok := field.(*widgets.NameField); !ok {
		t.Fatalf("the keyboard is with %T", field)
	}
	r := windows()
	r.Devices[1].Online = false
	showPairing(p, r)
	p.Back()
	if w.Canvas().Focused() != field || p.client == nil {
		t.Error("the field was taken away while the person types")
	}
	field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	pagetest.Button(t, p.Box, "Rename")
}

func TestArrowsPassOverTheHeadingOfTheWindows(t *testing.T) {
	p := withWindows(t)
	w := pagetest.Window(t, p.Box, 880, 700)
	w.Canvas().Focus(p.List)
	for range len(p.view.Machines) {
		p.List.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	}
	p.List.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if p.client == nil || p.client.id != p.clients[0].ID {
		t.Fatal("the first window was not reached")
	}
	p.Back()
	p.List.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	p.List.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if p.detail == nil || p.detail.id != "old" {
		t.Error("the last machine was not reached")
	}
}

func TestFilesAreDroppedOnMachinesAlone(t *testing.T) {
	p := withWindows(t)
	pagetest.Window(t, p.Box, 880, 700)
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(p.List)
	found := map[protocol.NodeID]bool{}
	for y := float32(0); y < p.List.Size().Height; y += 10 {
		id, _, _ := p.At(at.AddXY(10, y))
		found[id] = true
	}
	if len(found) != len(p.view.Machines)+1 || !found[""] {
		t.Errorf(`got %v; want length %v and found[""]`, found, len(p.view.Machines)+1)
	}
	p.openClient("tab")
	if _, _, ok := p.At(at.AddXY(10, 10)); ok {
		t.Error("a window takes files")
	}
}

func TestWindowsAreShownWhereNoMachineIs(t *testing.T) {
	p := withWindows(t)
	p.show(feed.View{Status: feed.Status{Loaded: true}, Pairing: windows()})
	pagetest.Shows(t, p.Box, "No machine is connected", "CONTROLLERS", "Tablet")
	w := pagetest.Window(t, p.Box, 880, 700)
	w.Canvas().Focus(p.List)
	p.List.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if p.client != nil {
		t.Error("the heading was chosen")
	}
}

func TestPairingExpiryIsSetInTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := withWindows(t)
		choose := func(a *widgets.Actions, id protocol.DeviceID, words string) {
			for _, item := range expiryItems(func(e accessPeriod) { expiry{p.Page, a}.set(id, e.expiry(p.now())) }) {
				if item.Label == words {
					item.Action()
				}
			}
			pagetest.Settle()
		}
		for id, open := range map[protocol.DeviceID]func() *widgets.Actions{
			"d":   func() *widgets.Actions { p.Open("nas"); return &p.detail.bar },
			"tab": func() *widgets.Actions { p.openClient("tab"); return &p.client.bar },
		} {
			a := open()
			pagetest.Shows(t, p.Box, "Access", "Until")
			choose(a, id, "For 30 days")
			if got, want := strings.Join(p.host.Did, ", "), "say The end date was not changed: "; !strings.HasPrefix(got, want) {
				t.Errorf("%s without a gateway: got %q, want %q", id, got, want)
			}
			p.host.Did = nil
		}
	})
}

func TestRevokedTrustHasNoExpiryToSetButExpiredTrustHas(t *testing.T) {
	p := withWindows(t)
	p.openClient("gone")
	if strings.Contains(golden.Words(p.Box), changeExpiry) {
		t.Error("a pairing that was revoked can be given another end")
	}
	r := windows()
	r.Devices[0].ExpiresAt, r.Devices[1].ExpiresAt = 1, 1
	v := machines()
	v.Machines[1].Online = false
	p.show(v)
	showPairing(p, r)
	if item := p.item(v.Machines[1]); item.Detail != "expired" {
		t.Errorf(`in the list the machine is %q, want "expired"`, item.Detail)
	}
	for _, open := range []func(){func() { p.Open("nas") }, func() { p.openClient("tab") }} {
		open()
		pagetest.Shows(t, p.Box, "Expired")
		pagetest.Button(t, p.Box, changeExpiry)
	}
}
