package services

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// testPage is a page with a gateway that the test defines.
type testPage struct {
	*Page
	host    *pagetest.Host
	gateway pagetest.Gateway
	tools   []string // calls of tools, with their arguments
}

func newTestPage(t *testing.T, mode style.Mode, width float32) *testPage {
	t.Helper()
	return newTestPageOf(t, mode, width, nil)
}

// newTestPageOf is newTestPage with machines that the feed knows before.
func newTestPageOf(t *testing.T, mode style.Mode, width float32, machines feed.MachineList) *testPage {
	t.Helper()
	ctx, _ := pagetest.Start(t, mode)
	p := &testPage{host: &pagetest.Host{}, gateway: pagetest.Gateway{}}
	f := feed.NewOf(p.gateway)
	t.Cleanup(f.Close)
	f.Machines.Update(func(l *feed.MachineList) { *l = machines })
	p.gateway[protocol.ServiceTarget.Name] = func(params any) (any, error) {
		text := params.(protocol.ServiceTargetParams).Text
		if text == "ftp" {
			return nil, errors.New("the target has the scheme ftp")
		}
		return protocol.ServiceTargetResult{Target: "http://127.0.0.1:" + text + "/"}, nil
	}
	p.gateway[protocol.CatalogCall.Name] = func(params any) (any, error) {
		in := params.(protocol.CatalogCallParams)
		p.tools = append(p.tools, in.Tool+" "+string(in.Args))
		return protocol.CatalogCallResult{Data: json.RawMessage(`{"service_id":"wiki"}`)}, nil
	}
	p.Page = newPage(ctx, host.Env{Host: p.host, Feed: f, Machines: &style.Machines{}, Drafts: &unsaved.Store{}})
	p.now = pagetest.Clock
	pagetest.Window(t, p.Box, width, 760)
	return p
}

func view() feed.View {
	return feed.View{
		Status:   feed.Status{Loaded: true, Connected: true},
		Machines: feed.MachineList{{ID: "tower", Name: "The tower", Online: true, Local: true}, {ID: "nas"}},
	}
}

func published() State {
	use := map[protocol.ServiceID]protocol.ServiceUse{
		"wiki": {Visitors: 3, RequestsToday: 1204, LastUsedAt: pagetest.Noon.Add(-time.Minute).UnixMilli()}, "photos": {LastUsedAt: pagetest.Noon.Add(-30 * time.Hour).UnixMilli()},
	}
	return State{Loaded: true, ServicesListResult: protocol.ServicesListResult{Use: use, Services: []protocol.Service{
		{
			ID: "wiki", NodeID: "tower", Title: "Wiki", Target: "http://127.0.0.1:3000/", Enabled: true, SignIn: true, URL: "http://wiki-x.localhost:8787",
			Addresses: []protocol.ServiceAddress{
				{URL: "https://wiki-x.apps.example", From: protocol.FromAnywhere, Problem: "the certificate could not be obtained"}, {URL: "http://wiki-x.localhost:8787", From: protocol.FromBrowser},
			},
			Visitors: []string{"ann@company.com", "*@company.com"}, CreatedAt: pagetest.Noon.Add(-time.Hour).UnixMilli(),
		},
		{ID: "demo", NodeID: "tower", Title: "Demo", Target: "http://127.0.0.1:5173/", Enabled: true, URL: "http://demo-x.localhost:8787"},
		{ID: "photos", NodeID: "nas", Title: "Photos", Target: "http://10.0.0.7/", Enabled: true, SignIn: true, URL: "http://photos-x.localhost:8787"},
		{ID: "old", NodeID: "nas", Title: strings.Repeat("A long name of an old app ", 8), Target: "http://10.0.0.7/", SignIn: true, URL: "http://old-x.localhost:8787"},
	}}}
}

func TestViewsMatchGolden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t, style.Light, 880)
		golden.Markup(t, "loading", p.Box)
		p.show(view(), State{Problem: "The disk is full"})
		golden.Markup(t, "problem", p.Box)
		p.show(view(), State{Loaded: true})
		golden.Markup(t, "empty", p.Box)
		p.show(view(), published())
		golden.Markup(t, "list", p.Box)
		p.open("wiki")
		p.showVisits(visits())
		golden.Markup(t, "detail", p.Box)
		p.OpenAt(host.New(Title))
		pagetest.Settle()
		golden.Markup(t, "form", p.Box)
	})
}

func TestStatesSayWhoCanVisitNow(t *testing.T) {
	got := []string{}
	for _, s := range published().Services {
		state, warn := stateText(view(), s)
		got = append(got, fmt.Sprint(state, ", ", audience(s), ", ", warn))
	}
	want := []string{"on, you and 2 visitors, false", "on for everyone, everyone, without a sign-in, true", "machine offline, you alone, true", "off, you alone, false"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUseIsSaidInOneLine(t *testing.T) {
	s := published()
	for id, want := range map[protocol.ServiceID]string{
		"wiki": "3 visitors now · 1204 requests today · last used 11:59", "photos": "last used yesterday at 06:00", "demo": "never used",
	} {
		if got := useText(s.Use[id], pagetest.Noon); got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
}

func entry(t *testing.T, p *testPage, placeholder string) *widgets.Entry {
	t.Helper()
	found := widgettest.Find(p.Box, func(e *widgets.Entry) bool { return strings.HasPrefix(e.PlaceHolder, placeholder) })
	if found == nil {
		t.Fatalf("no field %q", placeholder)
	}
	return found
}

func TestTheFormThatOpensWithThePageKnowsTheMachines(t *testing.T) {
	p := newTestPageOf(t, style.Light, 880, view().Machines)
	p.OpenAt(host.New(Title))
	pagetest.Shows(t, p.Box, "The tower")
}

func TestPublishingSaysWhatWasUnderstoodAndWaitsForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t, style.Light, 880)
		p.show(view(), State{Loaded: true})
		p.gateway[protocol.ServicesList.Name] = func(any) (any, error) { return published().ServicesListResult, nil }
		var answered atomic.Bool
		tool := p.gateway[protocol.CatalogCall.Name]
		p.gateway[protocol.CatalogCall.Name] = func(params any) (any, error) {
			if !answered.Load() {
				return protocol.CatalogCallResult{Fault: protocol.NewFault(protocol.FaultApprovalRequired, "not yet")}, nil
			}
			return tool(params)
		}
		p.OpenAt(host.New(Title))
		test.Tap(pagetest.Button(t, p.Box, "Publish"))
		pagetest.Shows(t, p.Box, "Enter the port or the address of the app")
		entry(t, p, "3000").SetText("ftp")
		pagetest.Settle()
		pagetest.Shows(t, p.Box, "The target has the scheme ftp.")
		entry(t, p, "3000").SetText("8000")
		pagetest.Settle()
		pagetest.Shows(t, p.Box, "Means http://127.0.0.1:8000/ on The tower.")
		entry(t, p, "Wiki").SetText("My wiki")
		test.Tap(pagetest.Button(t, p.Box, "Publish"))
		time.Sleep(3 * time.Second)
		pagetest.Settle()
		pagetest.Shows(t, p.Box, "Waiting for your answer.")
		answered.Store(true)
		time.Sleep(3 * time.Second)
		pagetest.Settle()
		if want := []string{`service_publish {"node_id":"tower","proxy_target_url":"8000","title":"My wiki","auth_required":true}`}; !slices.Equal(p.tools, want) {
			t.Errorf("called %q, want %q", p.tools, want)
		}
		pagetest.Shows(t, p.Box, "All published apps")
		p.OpenAt(host.New(Title))
		if got := entry(t, p, "3000").Text; got != "" {
			t.Errorf("the next form begins with %q, want nothing", got)
		}
	})
}

// choose chooses an option of the selection that has it.
func choose(t *testing.T, p *testPage, option string) {
	t.Helper()
	found := widgettest.Find(p.Box, func(s *widgets.Select) bool { return slices.Contains(s.Options, option) })
	if found == nil {
		t.Fatalf("nothing offers %q", option)
	}
	found.SetSelected(option)
}

func TestATerminalIsPublishedAndChangedInTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t, style.Light, 880)
		p.show(view(), State{Loaded: true})
		p.gateway[protocol.ServicesList.Name] = func(any) (any, error) { return published().ServicesListResult, nil }
		p.OpenAt(host.New(Title))
		choose(t, p, everybody)
		choose(t, p, aTerminal)
		if found := widgettest.Find(p.Box, func(s *widgets.Select) bool { return slices.Contains(s.Options, everybody) }); found != nil {
			t.Error("a terminal is offered to everyone without a sign-in")
		}
		test.Tap(pagetest.Button(t, p.Box, "Publish"))
		pagetest.Shows(t, p.Box, "Enter the command that the terminal runs")
		entry(t, p, "htop").SetText("top -d 1")
		entry(t, p, "the user that").SetText("pi")
		choose(t, p, andVisitors)
		entry := widgettest.Find(p.Box, func(a *widgets.TextArea) bool { return true })
		entry.SetText("ann@company.com")
		pagetest.Shows(t, p.Box, "Visitors can type")
		test.Tap(pagetest.Button(t, p.Box, "Publish"))
		pagetest.Settle()
		want := `service_publish {"node_id":"tower","terminal_command":"top -d 1","username":"pi","auth_required":true,"authorized_emails":["ann@company.com"]}`
		if !slices.Equal(p.tools, []string{want}) {
			t.Errorf("called %q, want %q", p.tools, want)
		}

		s := published().Services[0]
		s.Target, s.Terminal = "", &protocol.TerminalOpen{Command: "htop", Workdir: "/srv"}
		p.openContent(s)
		choose(t, p, aShell)
		test.Tap(pagetest.Button(t, p.Box, "Change…"))
		pagetest.Settle()
		want = `service_update {"service_id":"wiki","terminal_command":"","username":"","workdir":"/srv"}`
		if last := p.tools[len(p.tools)-1]; last != want {
			t.Errorf("called %q, want %q", last, want)
		}
	})
}

func TestTheFactsOfATerminalSayWhatItRuns(t *testing.T) {
	s := published().Services[0]
	s.Target, s.Terminal = "", &protocol.TerminalOpen{Username: "pi", Workdir: "/a\u202eb"}
	got := fmt.Sprint(factsOf(view(), s, protocol.ServiceUse{}, pagetest.Noon))
	for _, want := range []string{"{Terminal The user’s shell", "{User pi", "{Folder /a"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want it to contain %s", got, want)
		}
	}
	if strings.Contains(got, "\u202e") {
		t.Error("a folder's name turns the text around")
	}
}

func TestADeniedChangeIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t, style.Light, 880)
		p.show(view(), published())
		p.gateway[protocol.CatalogCall.Name] = func(any) (any, error) {
			return protocol.CatalogCallResult{Fault: protocol.NewFault(protocol.FaultPermissionDenied, "denied")}, nil
		}
		p.open("wiki")
		test.Tap(pagetest.Button(t, p.Box, "Delete"))
		pagetest.Shows(t, p.Box, "Delete “Wiki” with its address?")
		test.Tap(pagetest.Button(t, p.Box, "Delete"))
		pagetest.Settle()
		pagetest.Shows(t, p.Box, "The app was not deleted: you did not allow it.")
	})
}

func TestVisitorsAreAddedWithErrorsAtTheField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t, style.Light, 880)
		p.show(view(), published())
		p.open("wiki")
		test.Tap(pagetest.Button(t, p.Box, "Add…"))
		pagetest.Shows(t, p.Box, "Enter an address such as ann@company.com.")
		entry(t, p, "ann@").SetText("bob@company.com, eve@company.com")
		test.Tap(pagetest.Button(t, p.Box, "Add…"))
		pagetest.Settle()
		if want := []string{`service_share {"action":"add","emails":["bob@company.com","eve@company.com"],"service_id":"wiki"}`}; !slices.Equal(p.tools, want) {
			t.Errorf("called %q, want %q", p.tools, want)
		}
		p.gateway[protocol.CatalogCall.Name] = func(any) (any, error) {
			return protocol.CatalogCallResult{Fault: protocol.NewFault(protocol.FaultInvalidArgs, "x is no email address")}, nil
		}
		entry(t, p, "ann@").SetText("x")
		test.Tap(pagetest.Button(t, p.Box, "Add…"))
		pagetest.Settle()
		pagetest.Shows(t, p.Box, "Not added: x is no email address.")
		if got := entry(t, p, "ann@").Text; got != "x" {
			t.Errorf("the field has %q, want what the person typed", got)
		}
	})
}

func TestALinkIsCopiedAndNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t, style.Light, 880)
		p.show(view(), published())
		p.gateway[protocol.ServiceLink.Name] = func(params any) (any, error) {
			return protocol.ServiceLinkResult{URL: "http://wiki-x.localhost:8787/link?for=" + params.(protocol.ServiceLinkParams).Email}, nil
		}
		p.open("wiki")
		test.Tap(widgettest.Find(p.Box, func(b *widgets.Button) bool { return b.Name == "Copy link for ann@company.com" }))
		pagetest.Settle()
		if want := []string{"copy http://wiki-x.localhost:8787/link?for=ann@company.com"}; !slices.Equal(p.host.Did, want) {
			t.Errorf("did %q, want %q", p.host.Did, want)
		}
		pagetest.Shows(t, p.Box, "It lets ann@company.com in once, within a day.")
		if widgettest.Find(p.Box, func(b *widgets.Button) bool { return b.Name == "Copy link for *@company.com" }) != nil {
			t.Error("a pattern has a link, want none: it stands for several people")
		}
	})
}

func TestOpeningAnAppSignsTheOwnerInAtTheChosenAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t, style.Light, 880)
		s := published()
		s.Services[0].Addresses = []protocol.ServiceAddress{{URL: "http://192.168.1.20:9001/", From: protocol.FromAnywhere}}
		s.Services[1].Addresses = []protocol.ServiceAddress{{URL: s.Services[1].URL, From: protocol.FromBrowser}}
		p.show(view(), s)
		p.gateway[protocol.ServiceLink.Name] = func(params any) (any, error) {
			if in := params.(protocol.ServiceLinkParams); in.ID != "wiki" || in.Email != "" {
				t.Errorf("asked for a link with %+v, want one of wiki for the owner", in)
			}
			return protocol.ServiceLinkResult{URL: "http://wiki-x.localhost:8787/enter?link=secret"}, nil
		}
		for _, id := range []protocol.ServiceID{"wiki", "demo"} {
			p.open(id)
			test.Tap(pagetest.Button(t, p.Box, "Open in browser"))
			pagetest.Settle()
		}
		want := []string{"url http://192.168.1.20:9001/enter?link=secret", "url http://demo-x.localhost:8787"}
		if !slices.Equal(p.host.Did, want) {
			t.Errorf("did %q, want %q", p.host.Did, want)
		}
		p.gateway[protocol.ServiceLink.Name] = func(any) (any, error) { return nil, errors.New("the disk is full") }
		p.open("wiki")
		test.Tap(pagetest.Button(t, p.Box, "Open in browser"))
		pagetest.Settle()
		pagetest.Shows(t, p.Box, "The link was not made: The disk is full")
	})
}

func visits() VisitList {
	at := func(d time.Duration) int64 { return pagetest.Noon.Add(d).UnixMilli() }
	return VisitList{Service: "wiki", ServiceVisitsResult: protocol.ServiceVisitsResult{Visitors: []protocol.ServiceVisitor{
		{From: "192.0.2.9", Since: at(-time.Minute), Requests: 1},
		{ID: "a1", IsOwner: true, ExpiresAt: at(30 * 24 * time.Hour), From: "127.0.0.1", Since: at(-time.Hour), Requests: 204},
		{ID: "b2", Email: "ann@company.com", IsClaimed: true, IsGranted: true, ExpiresAt: at(time.Hour)},
	}}}
}

func TestVisitorsAreListedAndSignedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPage(t, style.Light, 880)
		list := visits().ServiceVisitsResult
		p.gateway[protocol.ServiceVisits.Name] = func(params any) (any, error) {
			if in := params.(protocol.ServiceParams); in.ID != "wiki" {
				t.Errorf("asked for the visitors of %q, want those of wiki", in.ID)
			}
			return list, nil
		}
		p.gateway[protocol.ServiceSignOut.Name] = func(params any) (any, error) {
			if in := params.(protocol.ServiceSignOutParams); in.ID != "wiki" || in.Visitor != "b2" {
				t.Errorf("signed out %+v, want b2 of wiki", in)
			}
			list.Visitors = list.Visitors[:2]
			return protocol.OK{}, nil
		}
		p.show(view(), published())
		p.open("wiki")
		pagetest.Settle()
		p.showVisits(p.m.Visits.Value.Get())
		pagetest.Shows(t, p.Box, "Visitor without a sign-in", "Visiting since 11:59 from 192.0.2.9 · 1 request", "ann@company.com (address not checked)", "Not visiting now · signed in until 13:00")
		test.Tap(widgettest.Find(p.Box, func(b *widgets.Button) bool { return b.Name == "Sign out ann@company.com (address not checked)" }))
		pagetest.Settle()
		p.showVisits(p.m.Visits.Value.Get())
		if got := len(p.visits.Visitors); got != 2 {
			t.Errorf("got %d visitors after the sign-out, want 2", got)
		}
		if widgettest.Find(p.Box, func(b *widgets.Button) bool { return strings.HasPrefix(b.Name, "Sign out ann") }) != nil {
			t.Error("the visitor who was signed out is still shown")
		}
		p.Leave()
		pagetest.Settle()
		if got := p.m.Visits.Value.Get(); got.Service != "" {
			t.Errorf("got the visitors of %q on the list, want none loaded", got.Service)
		}
	})
}

func TestEveryViewInLightAndDarkWideAndNarrow(t *testing.T) {
	for mode, name := range map[style.Mode]string{style.Light: "light", style.Dark: "dark"} {
		for _, width := range []float32{880, 480} {
			synctest.Test(t, func(t *testing.T) {
				p := newTestPage(t, mode, width)
				w := pagetest.Window(t, p.Box, width, 760)
				size := name + fmt.Sprint("-", width)
				p.show(view(), State{Loaded: true})
				pagetest.Shot(t, w, "services-empty-"+size)
				p.show(view(), published())
				pagetest.Shot(t, w, "services-list-"+size)
				p.open("wiki")
				p.showVisits(visits())
				p.Box.Refresh()
				pagetest.Shot(t, w, "services-detail-"+size)
				p.open("demo")
				pagetest.Shot(t, w, "services-everyone-"+size)
				p.OpenAt(host.New(Title))
				entry(t, p, "3000").SetText("3000")
				pagetest.Settle()
				pagetest.Shot(t, w, "services-form-"+size)
				p.openContent(published().Services[0])
				pagetest.Settle()
				pagetest.Shot(t, w, "services-change-"+size)
				p.OpenAt(host.New(Title))
				choose(t, p, aTerminal)
				choose(t, p, andVisitors)
				pagetest.Settle()
				pagetest.Shot(t, w, "services-terminal-"+size)
				if mode == style.Dark || width > 480 {
					return
				}
				pagetest.Largest(w)
				for _, id := range []protocol.ServiceID{"wiki", "demo"} {
					p.open(id)
					pagetest.Shot(t, w, "services-"+string(id)+"-largest-"+size)
				}
				p.OpenAt(host.New(Title))
				pagetest.Settle()
				pagetest.Shot(t, w, "services-form-largest-"+size)
			})
		}
	}
}
