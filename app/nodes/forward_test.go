package nodes

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/forwards"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// forwardsOfNAS are an own forward, one of the command line, one of another computer, and one of
// another machine.
func forwardsOfNAS() forwardList {
	minute := func(n int) int64 { return pagetest.Noon.Add(-time.Duration(n) * time.Minute).UnixMilli() }
	return forwardList{ForwardListResult: protocol.ForwardListResult{Forwards: []protocol.Forward{
		{ID: "own", Node: "nas", Target: "localhost:80", Listen: "127.0.0.1:8080", By: "owner desktop-1", Connections: 2, Sent: 1200, Received: 3400000, LastUsedAt: minute(1)},
		{ID: "cli", Node: "nas", Target: "db.lan:5432", Listen: "127.0.0.1:5432", By: "owner cli-1", Address: "127.0.0.1"},
		{ID: "far", Node: "nas", Target: "localhost:8000", Listen: "127.0.0.1:8000", By: "owner Tablet", Device: "t", Address: "10.0.0.9", LastUsedAt: minute(90)},
		{ID: "x", Node: "laptop", Target: "localhost:22", Listen: "127.0.0.1:8022", By: "owner"},
	}}}
}

func TestForwardsOfAMachineAreListed(t *testing.T) {
	v := machines()
	v.Pairing.Devices = []protocol.Device{{ID: "t", Name: "Anna’s tablet", Role: protocol.RoleClient}}
	own := []forwards.Forward{
		{ID: "own", Spec: forwards.Spec{Node: "nas", Target: "localhost:80", Port: 8080}, Saved: true, Problem: "The NAS does not answer", At: pagetest.Noon.UnixMilli()},
		{Spec: forwards.Spec{Node: "nas", Target: "localhost:443", Port: 8443}, Saved: true, Problem: "nas is offline"},
		{Spec: forwards.Spec{Node: "nas", Target: "localhost:9", Port: 9}}, // is being opened
	}
	got := forwardLines(v, forwardsOfNAS().Forwards, own, "nas", pagetest.Noon)
	want := []forwardLine{
		{
			ID: "own", Local: "127.0.0.1:8080", Here: true, Title: "127.0.0.1:8080 leads to port 80", URL: "http://127.0.0.1:8080/", Problem: "The NAS does not answer",
			Text: "Opened here · 2 connections now · 1.2 kB sent, 3.4 MB received · last used 11:59 · opens again when Fairlead starts",
		},
		{
			ID: "cli", Local: "127.0.0.1:5432", Here: true, Title: "127.0.0.1:5432 leads to db.lan:5432",
			Text: "Opened on the command line · 0 connections now · 0 B sent, 0 B received · never used",
		},
		{
			ID: "far", Local: "127.0.0.1:8000", Title: "127.0.0.1:8000 leads to port 8000",
			Text: "Opened by Anna’s tablet at 10.0.0.9 · 0 connections now · 0 B sent, 0 B received · last used 10:30",
		},
		{Local: "127.0.0.1:8443", Here: true, Title: "127.0.0.1:8443 leads to port 443", Text: "Not open. Fairlead tries again.", Problem: "nas is offline"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestProblemOfAForwardGoesWithTheNextUse(t *testing.T) {
	own := []forwards.Forward{{ID: "own", Problem: "refused", At: pagetest.Noon.Add(-time.Hour).UnixMilli()}}
	if got := forwardLines(machines(), forwardsOfNAS().Forwards, own, "nas", pagetest.Noon)[0].Problem; got != "" {
		t.Errorf("got the problem %q, want none: the forward was used since", got)
	}
}

func TestTargetsOfForwardsAreUnderstoodAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"8080": "localhost:8080", " :8080 ": "localhost:8080", "db.lan:5432": "db.lan:5432", "[::1]:80": "[::1]:80",
		"": "", "0": "", "70000": "", "web": "", "db.lan:": "", "a b:1": "", "http://x:1": "",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := parseForwardTarget(text)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

func TestLocalPortOfAForwardIsOneThatEveryProgramMayOpen(t *testing.T) {
	for target, want := range map[string]string{"localhost:5432": "5432", "localhost:80": "8080", "db:443": "8443"} {
		if got := defaultLocal(target); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

func TestForwardsAreClosedAndCopiedOnThePageOfTheMachine(t *testing.T) {
	p := newTestPage(t)
	p.forwards.list = forwardsOfNAS()
	p.forwards.list.Forwards = p.forwards.list.Forwards[1:2]
	p.show(machines())
	p.Open("nas")
	golden.Markup(t, "forwards", p.detail.forwards.Box)
	test.Tap(pagetest.Button(t, p.Box, "Copy address"))
	p.forwards.list.Forwards = nil
	p.Update()
	if p.detail.forwards.Box.Visible() {
		t.Error("the section of forwards is visible without one")
	}
	if want := []string{"copy 127.0.0.1:5432", "say The address was copied."}; !slices.Equal(p.host.Did, want) {
		t.Errorf("did %q, want %q", p.host.Did, want)
	}
}

func TestAButtonOfAForwardKeepsTheFocusWhileItIsUsed(t *testing.T) {
	p := newTestPage(t)
	p.forwards.list = forwardsOfNAS()
	p.show(machines())
	p.Open("nas")
	before := pagetest.Button(t, p.Box, "Close")
	p.forwards.list = forwardsOfNAS()
	p.forwards.list.Forwards[2].Connections = 7
	p.Update()
	pagetest.Shows(t, p.Box, "7 connections now")
	if after := pagetest.Button(t, p.Box, "Close"); after != before {
		t.Error("the button was replaced, want the same one")
	}
}

func TestTheFormOfAForwardSaysWhatWasUnderstood(t *testing.T) {
	p := newTestPage(t)
	p.show(machines())
	p.OpenAt(host.Forward("nas"))
	golden.Markup(t, "forward", p.Box)
	f := widgettest.Find(p.Box, func(e *widgets.Entry) bool { return strings.HasPrefix(e.PlaceHolder, "8080") })
	f.SetText("80")
	pagetest.Shows(t, p.Box, "Leads to port 80 of The box in the cellar.", "8080")
	f.SetText("db.lan:5432")
	pagetest.Shows(t, p.Box, "Leads to port 5432 of db.lan, as The box in the cellar reaches it.", "asks once at The box in the cellar")
	f.SetText("web")
	pagetest.Shows(t, p.Box, "“web” is not a port.")
	test.Tap(pagetest.Button(t, p.Box, "Cancel"))
	if p.detail == nil || p.detail.id != "nas" {
		t.Error("Cancel does not lead back to the machine")
	}
}

func TestAForwardOfNoMachineAsksForOne(t *testing.T) {
	p := newTestPage(t)
	p.show(machines())
	p.OpenAt(host.Forward(""))
	pagetest.Shows(t, p.Box, "Forward a port", "The box in the cellar")
	v := machines()
	v.Machines = v.Machines[:1]
	p.show(v)
	p.OpenAt(host.Forward(""))
	pagetest.Shows(t, p.Box, "No other machine is connected")
	test.Tap(pagetest.VisibleButton(p.Box, "Add a machine"))
	pagetest.Shows(t, p.Box, "NETWORK")
}

func TestThisComputersPortsAreNotForwarded(t *testing.T) {
	p := newTestPage(t)
	v := machines()
	p.show(v)
	p.Open("laptop")
	if pagetest.VisibleButton(p.Box, "Forward a port…") != nil {
		t.Error("the page of this computer offers to forward a port of it")
	}
	v.Status.Remote = true
	p.show(feed.View{Status: v.Status, Machines: v.Machines})
	p.Open("laptop")
	pagetest.Button(t, p.Box, "Forward a port…")
}

func TestAPortInUseIsSaidInWords(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, taken := net.Listen("tcp", l.Addr().String())
	if got := openError(fmt.Errorf("open the local port: %w", taken), 80).Error(); !strings.HasPrefix(got, "port 80 of this computer cannot be opened: ") || !strings.HasSuffix(got, "any free port") {
		t.Errorf("got %q, want what to do", got)
	}
	if got := openError(errors.New("nas is offline"), 80).Error(); got != "nas is offline" {
		t.Errorf("got %q, want the error itself", got)
	}
}

func TestForwardsInLightAndDarkWideAndNarrow(t *testing.T) {
	for mode, name := range map[style.Mode]string{style.Light: "light", style.Dark: "dark"} {
		for _, width := range []float32{880, 480} {
			p := newTestPage(t)
			fyne.CurrentApp().Settings().SetTheme(style.New(mode, 1))
			w := pagetest.Window(t, p.Box, width, 760)
			size := name + fmt.Sprint("-", width)
			p.forwards.list = forwardsOfNAS()
			p.forwards.own.List.Update(func(l *[]forwards.Forward) {
				*l = []forwards.Forward{{ID: "own", Saved: true, Problem: "This machine has not allowed db.lan:5432: run there: fairlead node allow db.lan:5432", At: pagetest.Noon.UnixMilli()}}
			})
			p.show(machines())
			p.Open("nas")
			pagetest.Shot(t, w, "forwards-list-"+size)
			p.OpenAt(host.Forward("nas"))
			widgettest.Find(p.Box, func(e *widgets.Entry) bool { return strings.HasPrefix(e.PlaceHolder, "8080") }).SetText("db.lan:5432")
			pagetest.Shot(t, w, "forwards-form-"+size)
			p.OpenAt(host.Forward(""))
			pagetest.Shot(t, w, "forwards-choose-"+size)
		}
	}
}
