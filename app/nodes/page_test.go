package nodes

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/code"
	"fairlead/app/feed"
	"fairlead/app/forwards"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// bench is a page without a gateway: the test sets its states.
type bench struct {
	*Page
	host  *pagetest.Host
	shown protocol.NodeID // the machine of which the page said that it is shown
}

func newTestPage(t *testing.T) *bench {
	t.Helper()
	ctx, app := pagetest.Start(t, style.Light)
	b := &bench{host: &pagetest.Host{}}
	b.Page = newPage(ctx, host.Env{Host: b.host, Feed: app.Feed, Machines: &style.Machines{}}, forwards.New(func([]forwards.Spec) {}, func(string) {}), func(id protocol.NodeID) { b.shown = id })
	b.now = pagetest.Clock
	pagetest.Window(t, b.Box, 880, 1400)
	return b
}

// showPairing shows other devices and requests beside the present machines.
func showPairing(p *bench, r feed.Pairing, questions ...protocol.Question) {
	v := p.view
	v.Pairing, v.Questions.Pending = r, questions
	p.show(v)
}

func machines() feed.View {
	return feed.View{
		Status: feed.Status{Loaded: true, Connected: true},
		Calls:  []protocol.CallInfo{{CallID: "c", Node: "nas", Tool: "Bash", Args: []byte(`{"command":"make"}`), State: protocol.CallRunning}},
		Machines: []protocol.NodeInfo{
			{ID: "laptop", Online: true, Local: true, Platform: "linux"},
			{
				ID: "nas", Name: "The box in the cellar", Colour: "teal", Online: true, PingMs: 12, Version: "1.0", ConnectedAt: pagetest.Noon.Add(-time.Hour).UnixMilli(), Tools: []string{"Bash", "Read"}, Device: "d",
				Host: &protocol.HostInfo{OS: "Debian 12", Arch: "arm64", Workspace: "/srv", Enforcement: &protocol.Enforcement{
					Mode: "workspace-write", Network: "blocked", Summary: "partly",
					Checks: []protocol.EnforcedCheck{{ID: "orphans", Enforced: true, By: "pid"}, {ID: "net.udp", Why: "the kernel is too old"}},
				}},
			},
			{ID: "old", LastSeenAt: pagetest.Noon.Add(-100 * time.Hour).UnixMilli(), Platform: strings.Repeat("a long name of a system ", 10)},
		},
	}
}

func TestViewsMatchGolden(t *testing.T) {
	p := newTestPage(t)
	golden.Markup(t, "loading", p.Box)
	p.show(feed.View{Status: feed.Status{Loaded: true}})
	golden.Markup(t, "empty", p.Box)
	p.show(machines())
	showPairing(p, feed.Pairing{}, protocol.Question{ID: "r", Kind: protocol.AskPair, Pairing: &protocol.PairingSubject{
		Device: protocol.Device{Name: "tower", OS: "Windows 11", Address: "10.0.0.9"}, Words: []string{"cobalt", "otter", "lamp"},
	}})
	golden.Markup(t, "list", p.Box)
	p.Open("nas")
	p.detail.log.SetLines(code.PlainLines("a line"))
	golden.Markup(t, "detail", p.Box)
	test.Tap(pagetest.Button(t, p.Box, "Details"))
	pagetest.Shows(t, p.Box, "Workspace", "Not limited here", "Commands can use the network.", "LOG", "a line")
}

func TestInvitationShowsLinkAndCode(t *testing.T) {
	p := newTestPage(t)
	p.Invite()
	o := p.invite.texts(protocol.DeviceInvite{Link: "fairlead://pair?x", Code: "7-otter-lamp"})
	o.Resize(fyne.NewSize(700, 500))
	if s := test.RenderObjectToMarkup(o) + golden.Words(o); !strings.Contains(s, "7-otter-lamp") || strings.Contains(s, "not installed") {
		t.Errorf(`got %v; want "7-otter-lamp" in it and no "not installed"`, s)
	}
	test.Tap(pagetest.Button(t, o, "Copy"))
	if got := strings.Join(p.host.Did, ", "); got != "copy 7-otter-lamp" && got != "copy fairlead://pair?x" {
		t.Errorf("got %q, want the link or the code copied", got)
	}
	for want, r := range map[string]protocol.NetworkStatus{"cannot connect to this gateway: port taken": {Enabled: true, Problem: "port taken"}, "at 10.0.0.2:8788. Fingerprint: a-b": {
		Enabled: true, Listening: true,
		Addresses: []string{"10.0.0.2:8788"}, Words: []string{"a", "b"},
	}, "starting to listen": {Enabled: true}, "Other machines cannot connect": {}} {
		t.Run(want, func(t *testing.T) {
			if got, _ := NetworkText(feed.Pairing{DeviceListResult: protocol.DeviceListResult{Network: r}}); !strings.Contains(got, want) {
				t.Errorf("%q has no %q", got, want)
			}
		})
	}
}

func TestForgettingAMachineAsksForConfirmation(t *testing.T) {
	p := newTestPage(t)
	p.show(machines())
	p.Open("old")
	test.Tap(pagetest.Button(t, p.Box, "Remove"))
	pagetest.Shows(t, p.Box, "Remove “old” from the list?")
	test.Tap(pagetest.Button(t, p.Box, "Cancel"))
	pagetest.Button(t, p.Box, "Remove")
	v := machines()
	v.Machines = v.Machines[:2]
	p.show(v)
	if p.detail != nil {
		t.Error("a machine that is gone is shown")
	}
}

func TestUpdatesDoNotDisturbRenaming(t *testing.T) {
	p := newTestPage(t)
	p.show(machines())
	p.Open("nas")
	test.Tap(pagetest.Button(t, p.Box, "Rename"))
	save := pagetest.Button(t, p.Box, "Save")
	v := machines()
	v.Machines[1].PingMs = 13
	p.show(v)
	if pagetest.Button(t, p.Box, "Save") != save {
		t.Error("the field was replaced while the person types")
	}
}

func TestRenamingTakesTheFocusAndEscapeCancels(t *testing.T) {
	p := newTestPage(t)
	p.show(machines())
	w := pagetest.Window(t, p.Box, 700, 500)
	p.Open("nas")
	before := pagetest.Button(t, p.Box, "Rename").Size().Height
	test.Tap(pagetest.Button(t, p.Box, "Rename"))
	field, ok := w.Canvas().Focused().(*widgets.NameField)
	if !ok {
		t.Fatalf("the keyboard is with %T", w.Canvas().Focused())
	}
	if save := pagetest.Button(t, p.Box, "Save"); save.Size().Height != before {
		t.Errorf("the line is %g high instead of %g", save.Size().Height, before)
	}
	d := fyne.CurrentApp().Driver()
	form := pagetest.Scroll(t, p.Box)
	if top, edge := d.AbsolutePositionForObject(field).Y, d.AbsolutePositionForObject(form).Y; top < edge {
		t.Errorf("the field begins at %g, above what is shown of the page at %g", top, edge)
	}
	field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	pagetest.Button(t, p.Box, "Rename")
}

func TestEscapeCancelsAnUnconfirmedAction(t *testing.T) {
	p := newTestPage(t)
	p.show(machines())
	p.Open("old")
	test.Tap(pagetest.Button(t, p.Box, "Remove"))
	if !p.Back() || p.detail == nil || p.detail.bar.Confirming != "" {
		t.Error("it is still about to be forgotten, or was left")
	}
	if !p.Back() || p.detail != nil || p.Back() {
		t.Error("the way back is not there, or there twice")
	}
}

func TestWheelOverPanelsScrollsThePage(t *testing.T) {
	p := newTestPage(t)
	p.show(machines())
	pagetest.Window(t, p.Box, 700, 300)
	p.Open("nas")
	test.Tap(pagetest.Button(t, p.Box, "Details"))
	p.detail.log.SetLines(code.PlainLines("one line"))
	pagetest.WheelReachesPage(t, p.Box, 1)
	showPairing(p, feed.Pairing{DeviceListResult: protocol.DeviceListResult{Network: protocol.NetworkStatus{Enabled: true, Listening: true}}})
	p.Invite()
	p.invite.result.Put(p.invite.texts(protocol.DeviceInvite{Link: "fairlead://pair?x", Code: "7-otter-lamp", Install: "curl example.org | sh"}))
	pagetest.WheelReachesPage(t, p.Box, 3)
}

func TestUpdatesKeepFocusAndScrollPosition(t *testing.T) {
	p := newTestPage(t)
	p.show(machines())
	w := pagetest.Window(t, p.Box, 700, 300)
	p.Open("nas")
	form := pagetest.Scroll(t, p.Box)
	test.Tap(pagetest.Button(t, p.Box, "Details"))
	form.ScrollToBottom()
	rename := pagetest.Button(t, p.Box, "Rename")
	w.Canvas().Focus(rename)
	at := form.Offset
	v := machines()
	v.Machines[1].PingMs, v.Machines[1].Tools, v.Calls = 13, []string{"Bash", "Glob", "Read"}, nil
	p.show(v)
	if pagetest.Scroll(t, p.Box) != form || w.Canvas().Focused() != fyne.Focusable(rename) {
		t.Error("the page was drawn anew")
	}
	if at.Y == 0 || form.Offset.Y == 0 {
		t.Errorf("it was at %g and is at %g", at.Y, form.Offset.Y)
	}
	pagetest.Shows(t, p.Box, "13 ms", "Glob")
}

func TestTheWindowsOfferEveryColourOfTheProtocol(t *testing.T) {
	if got, want := style.Choices, protocol.NodeColours; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
