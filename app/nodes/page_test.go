package nodes

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

var noon = time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)

// inPage makes a page without a gateway: the test gives it its states.
func inPage(t *testing.T) *Page {
	t.Helper()
	a := test.NewTempApp(t)
	a.Settings().SetTheme(look.New(look.Light, 1))
	app := state.NewApp()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	t.Cleanup(app.Close)
	p := newPage(ctx, app, Handlers{Machines: &look.Machines{}, Say: func(string) {}, Copy: func(string) {}})
	p.now = func() time.Time { return noon }
	w := a.NewWindow("")
	w.SetPadded(false)
	w.SetContent(p.Box)
	w.Resize(fyne.NewSize(880, 1400))
	t.Cleanup(w.Close)
	return p
}

func machines() state.View {
	return state.View{Loaded: true, Connected: true,
		Calls: []protocol.CallInfo{{CallID: "c", Node: "nas", Tool: "Bash", Args: []byte(`{"command":"make"}`), State: protocol.CallRunning}},
		Nodes: []protocol.NodeInfo{
			{ID: "laptop", Online: true, Local: true, Platform: "linux"},
			{ID: "nas", Name: "The box in the cellar", Colour: "teal", Online: true, PingMs: 12, Version: "1.0", ConnectedAt: noon.Add(-time.Hour).UnixMilli(), Tools: []string{"Bash", "Read"}, Device: "d",
				Host: &protocol.HostInfo{OS: "Debian 12", Arch: "arm64", Workspace: "/srv", Enforcement: &protocol.Enforcement{Mode: "workspace-write", Network: "blocked", Summary: "partly",
					Checks: []protocol.EnforcedCheck{{ID: "orphans", Enforced: true, By: "pid"}, {ID: "net.udp", Why: "the kernel is too old"}}}}},
			{ID: "old", LastSeenAt: noon.Add(-100 * time.Hour).UnixMilli(), Platform: strings.Repeat("a long name of a system ", 10)},
		}}
}

func button(t *testing.T, o fyne.CanvasObject, text string) *widgets.Button {
	t.Helper()
	var found *widgets.Button
	var walk func(fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *widgets.Button:
			if o.Text == text {
				found = o
			}
		case *fyne.Container:
			for _, c := range o.Objects {
				walk(c)
			}
		case fyne.Widget:
			for _, c := range test.WidgetRenderer(o).Objects() {
				walk(c)
			}
		}
	}
	walk(o)
	if found == nil {
		t.Fatalf("no button %q in %s", text, test.RenderObjectToMarkup(o))
	}
	return found
}

func TestViewsLookAsTheyDid(t *testing.T) {
	p := inPage(t)
	golden.Markup(t, "loading", p.Box)
	p.devices = 0 // of the views below: nobody can be asked for pairings
	p.show(state.View{Loaded: true})
	golden.Markup(t, "empty", p.Box)
	p.show(machines())
	p.showPairing(state.Pairing{DeviceListResult: protocol.DeviceListResult{Requests: []protocol.DeviceRequest{
		{ID: "r", Kind: protocol.RequestPair, Device: protocol.Device{Name: "tower", OS: "Windows 11", Address: "10.0.0.9"}, Words: []string{"cobalt", "otter", "lamp"}}}}})
	golden.Markup(t, "list", p.Box)
	p.Open("nas")
	p.detail.log.SetLines(widgets.PlainLines("a line"))
	golden.Markup(t, "detail", p.Box)
}

func TestInvitationShowsLinkAndCode(t *testing.T) {
	p := inPage(t)
	copied := ""
	p.h.Copy = func(s string) { copied = s }
	o := p.invitation(protocol.DeviceInvite{Link: "fairlead://pair?x", Code: "7-otter-lamp"})
	o.Resize(fyne.NewSize(700, 500))
	if s := test.RenderObjectToMarkup(o); !strings.Contains(s, "7-otter-lamp") || strings.Contains(s, "not installed") {
		t.Error(s)
	}
	test.Tap(button(t, o, "Copy"))
	if copied != "7-otter-lamp" && copied != "fairlead://pair?x" {
		t.Errorf("copied %q", copied)
	}
	for want, r := range map[string]protocol.NetworkStatus{"cannot reach this gateway: port taken": {Enabled: true, Problem: "port taken"}, "at 10.0.0.2:8788. Its words are a-b": {Enabled: true, Listening: true,
		Addresses: []string{"10.0.0.2:8788"}, Words: []string{"a", "b"}}, "about to listen": {Enabled: true}, "No other machine": {}} {
		if got, _ := NetworkText(state.Pairing{DeviceListResult: protocol.DeviceListResult{Network: r}}); !strings.Contains(got, want) {
			t.Errorf("%q has no %q", got, want)
		}
	}
}

func TestForgettingAMachineAsksOnceMore(t *testing.T) {
	p := inPage(t)
	p.devices = 0
	p.show(machines())
	p.Open("old")
	test.Tap(button(t, p.Box, "Forget"))
	button(t, p.Box, "Really? Its connection ends")
	test.Tap(button(t, p.Box, "Keep it"))
	button(t, p.Box, "Forget")
	v := machines()
	v.Nodes = v.Nodes[:2]
	if p.show(v); p.detail != nil {
		t.Error("a machine that is gone is shown")
	}
}

func TestRenamingIsNotDisturbedByWhatComesIn(t *testing.T) {
	p := inPage(t)
	p.devices = 0
	p.show(machines())
	p.Open("nas")
	test.Tap(button(t, p.Box, "Rename"))
	save := button(t, p.Box, "Save")
	v := machines()
	v.Nodes[1].PingMs = 13
	p.show(v)
	if button(t, p.Box, "Save") != save {
		t.Error("the field was replaced while the person types")
	}
}
