package apps

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/grant"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/clients"
	"fairlead/gateway/protocol"
)

// bench is a page without a gateway: the test sets its states.
type bench struct {
	*Page
	*pagetest.Host
	w       fyne.Window
	calls   map[protocol.AppID][]protocol.JournalEntry
	loads   int // of calls
	stopped []string
	end     func(error) // ends the newest stop
}

func inPage(t *testing.T, mode style.Mode, width float32) *bench {
	t.Helper()
	ctx, app := pagetest.Start(t, mode)
	b := &bench{Host: &pagetest.Host{}, calls: map[protocol.AppID][]protocol.JournalEntry{"a": {
		{Tool: "command", Node: "nas", Input: json.RawMessage(`{"command":"make"}`), Status: protocol.CallDone, RequestedAt: at(-2 * time.Minute)},
		{Tool: "fs_write", Node: "laptop", Input: json.RawMessage(`{"path":"/srv/a.txt"}`), Status: protocol.CallDenied, RequestedAt: at(-26 * time.Hour)},
	}}}
	b.Page = newPage(ctx, host.Env{Host: b.Host, Feed: app.Feed, Drafts: app.Drafts}, nil)
	b.lastCalls = func(id protocol.AppID, done func([]protocol.JournalEntry, error)) {
		b.loads++
		var err error
		if id == "x" {
			err = errors.New("The disk is full")
		}
		done(b.calls[id], err)
	}
	b.stop = func(id string, done func(error)) { b.stopped, b.end = append(b.stopped, id), done }
	b.now = pagetest.Clock
	b.w = pagetest.Window(t, b.Box, width, 760)
	return b
}

func at(d time.Duration) int64 { return pagetest.Noon.Add(d).UnixMilli() }

func twoMachines() []protocol.NodeInfo {
	return []protocol.NodeInfo{{ID: "laptop", Name: "laptop", Online: true, Local: true}, {ID: "nas", Name: "nas"}}
}

func consent() protocol.Question {
	return protocol.Question{ID: "c", Kind: protocol.AskApp, CreatedAt: at(0), ExpiresAt: at(5 * time.Minute), App: &protocol.AppSubject{
		Name: "Claude Code", ClientID: "https://claude.example/client.json", ClientHost: "claude.example", RedirectHost: "127.0.0.1", IsLocal: true, Code: "K7WQ",
		Scopes: []protocol.Scope{protocol.ScopeNetworkRead, protocol.ScopeFilesRead, protocol.ScopeShell},
	}}
}

func full() feed.View {
	v := feed.View{Status: feed.Status{Loaded: true, Connected: true, Status: protocol.Status{Listen: "127.0.0.1:8787"}}, Machines: twoMachines()}
	v.Apps = feed.ConnectedApps{Loaded: true, AppsListResult: protocol.AppsListResult{Apps: []protocol.App{
		{
			ID: "a", Kind: protocol.AppOAuth, Name: "Claude Code", ClientHost: "claude.example", Scopes: []protocol.Scope{protocol.ScopeNetworkRead, protocol.ScopeShell},
			CreatedAt: at(-48 * time.Hour), LastUsedAt: at(-2 * time.Minute), LastTool: "command", Calls: 41,
		},
		{
			ID: "b", Kind: protocol.AppToken, Name: strings.Repeat("Backup script of the cellar ", 6), Scopes: []protocol.Scope{protocol.ScopeFilesRead}, Nodes: []protocol.NodeID{"nas"},
			CreatedAt: at(-time.Hour), ExpiresAt: at(30 * 24 * time.Hour),
		},
		{ID: "x", Kind: protocol.AppToken, Name: "Old", Scopes: protocol.AppScopes, CreatedAt: at(-9 * 24 * time.Hour), RevokedAt: at(-time.Hour)},
	}}}
	return v
}

func TestViewsMatchGolden(t *testing.T) {
	p := inPage(t, style.Light, 880)
	golden.Markup(t, "loading", p.Box)
	p.show(feed.View{Apps: feed.ConnectedApps{Problem: "The disk is full"}})
	golden.Markup(t, "problem", p.Box)
	p.show(feed.View{Apps: feed.ConnectedApps{Loaded: true}, Status: feed.Status{Status: protocol.Status{Listen: "127.0.0.1:8787"}}})
	golden.Markup(t, "empty", p.Box)
	v := full()
	v.Questions.Pending = []protocol.Question{consent()}
	p.show(v)
	golden.Markup(t, "list", p.Box)
	p.open("a")
	golden.Markup(t, "detail", p.Box)
	p.openForm()
	golden.Markup(t, "form", p.Box)
}

func TestEveryViewInLightAndDarkWideAndNarrow(t *testing.T) {
	for mode, name := range map[style.Mode]string{style.Light: "light", style.Dark: "dark"} {
		for _, width := range []float32{880, 480} {
			p := inPage(t, mode, width)
			size := name + fmt.Sprint("-", width)
			p.show(feed.View{Apps: feed.ConnectedApps{Loaded: true}, Status: feed.Status{Status: protocol.Status{Listen: "127.0.0.1:8787"}}})
			pagetest.Shot(t, p.w, "apps-empty-"+size)
			p.show(full())
			pagetest.Shot(t, p.w, "apps-list-"+size)
			v := full()
			v.Questions.Pending = []protocol.Question{consent()}
			p.show(v)
			pagetest.Shot(t, p.w, "apps-consent-"+size)
			p.open("b")
			pagetest.Shot(t, p.w, "apps-detail-"+size)
			v.Apps.Commands = running()
			p.show(v)
			p.open("a")
			pagetest.Shot(t, p.w, "apps-running-"+size)
			p.openForm()
			pagetest.Shot(t, p.w, "apps-form-"+size)
			p.showToken(protocol.TokenCreateResult{App: protocol.App{Name: "Backup"}, Token: "flt_" + strings.Repeat("x7Kq", 11)})
			pagetest.Shot(t, p.w, "apps-token-"+size)
		}
	}
}

func check(t *testing.T, o fyne.CanvasObject, text string) *widgets.CheckBox {
	t.Helper()
	found := widgettest.Find(o, func(c *widgets.Check) bool { return c.Label == text })
	if found == nil {
		t.Fatalf("no check box %q", text)
	}
	return found.Box
}

func TestAnAppThatAsksToConnectIsReviewedFromTheList(t *testing.T) {
	p := inPage(t, style.Light, 880)
	v := full()
	v.Questions.Pending = []protocol.Question{consent()}
	p.show(v)
	pagetest.Shows(t, p.Box, "Connect “Claude Code”?", "5:00 left")
	p.List.Select(0)
	if !slices.Equal(p.Did, []string{"question c"}) {
		t.Errorf("reviews: got %v, want %v", p.Did, []string{"question c"})
	}
	p.List.Select(1)
	if p.detail == nil || p.detail.id != "a" {
		t.Error("the line after it is not the first app")
	}
}

func TestATokenNeedsANameAndAPermission(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(full())
	test.Tap(pagetest.Button(t, p.Box, "New token"))
	create := pagetest.Button(t, p.Box, "Create token")
	test.Tap(create)
	pagetest.Shows(t, p.Box, "Give the token a name")
	entry := widgettest.Find(p.Box, func(e *widgets.Entry) bool { return strings.HasPrefix(e.PlaceHolder, "Where") })
	entry.SetText(" Backup ")
	for _, c := range []string{"See your machines", "Read files", "See network details"} {
		check(t, p.Box, c).SetChecked(false)
	}
	test.Tap(create)
	pagetest.Shows(t, p.Box, "Choose at least one permission.")
	p.showToken(protocol.TokenCreateResult{App: protocol.App{Name: "Backup"}, Token: "flt_secret"})
	pagetest.Shows(t, p.Box, "Copy the token now.", "flt_secret", "http://127.0.0.1:8787/api/v1/tools/whoami")
	test.Tap(pagetest.Button(t, p.Box, "Copy token"))
	if !slices.Contains(p.Did, "copy flt_secret") {
		t.Errorf(`did: got %q, want "copy flt_secret" in Did`, p.Did)
	}
	test.Tap(pagetest.Button(t, p.Box, "Copy"))
	if !slices.ContainsFunc(p.Did, func(did string) bool { return strings.HasPrefix(did, "copy curl -X POST http://127.0.0.1:8787/api/") }) {
		t.Errorf("did %q", p.Did)
	}
	test.Tap(pagetest.Button(t, p.Box, "See all tools"))
	if !slices.Contains(p.Did, "url http://127.0.0.1:8787/api/") {
		t.Errorf(`did: got %q, want "url http://127.0.0.1:8787/api/" in Did`, p.Did)
	}
	if !p.Back() {
		t.Error("Back does not lead to the list")
	}
}

func TestTokenFormDraftIsRestored(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(full())
	open := func() *widgets.Entry {
		p.openForm()
		return widgettest.Find(p.Box, func(e *widgets.Entry) bool { return strings.HasPrefix(e.PlaceHolder, "Where you") })
	}
	open().SetText("Backup")
	check(t, p.Box, "Run commands").SetChecked(true)
	p.Back()
	if name := open(); name.Text != "Backup" || !check(t, p.Box, "Run commands").Checked {
		t.Errorf("Form after the return: name %q, want what was typed and chosen", name.Text)
	}
	check(t, p.Box, "Run commands").SetChecked(false)
	choice := func() *widgets.Select {
		return widgettest.Find(p.Box, func(s *widgets.Select) bool { return slices.Contains(s.Options, grant.SomeMachines) })
	}
	choice().SetSelected(grant.SomeMachines) // and no machine yet
	if open(); choice().Selected != grant.SomeMachines {
		t.Errorf("Machines after the return: got %q, want %q", choice().Selected, grant.SomeMachines)
	}
	test.Tap(pagetest.Button(t, p.Box, "Discard"))
	if name := open(); name.Text != "" {
		t.Errorf("Name after Discard: got %q, want none", name.Text)
	}
	open().SetText("B")
	open().SetText("")
	if open(); widgettest.Find(p.Box, func(b *widgets.Button) bool { return b.Text == "Discard" && b.Visible() }) != nil {
		t.Error("a form that was emptied again has a draft")
	}
}

func TestTheDefaultPermissionsOfATokenHaveNoEffect(t *testing.T) {
	for _, s := range newTokenScopes {
		if slices.Contains([]protocol.Scope{protocol.ScopeShell, protocol.ScopeFilesWrite, protocol.ScopeAllTools}, s) {
			t.Errorf("%s is on", s)
		}
	}
}

func TestARevokedAppShowsWhatItCouldDo(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(full())
	p.open("x")
	pagetest.Shows(t, p.Box, "can no longer connect", "It could")
	p.open("a")
	test.Tap(pagetest.Button(t, p.Box, "Revoke access"))
	pagetest.Shows(t, p.Box, "Revoke access for “Claude Code”?")
	if !p.Back() || !p.IsOpen() {
		t.Error("Back does not cancel the question first")
	}
	if !p.Back() || p.IsOpen() {
		t.Error("Back does not lead to the list")
	}
	v := full()
	p.open("a")
	v.Apps.Apps = v.Apps.Apps[1:]
	p.show(v)
	if p.IsOpen() {
		t.Error("an app that is gone is shown")
	}
}

func running() []protocol.AppCommand {
	return []protocol.AppCommand{
		{ID: "c1", App: "a", Node: "nas", Text: "make -j4", StartedAt: at(-20 * time.Minute)},
		{ID: "c2", App: "a", Node: "laptop", Text: "rsync -a " + strings.Repeat("/srv/photos/of-a-summer ", 30), StartedAt: at(-26 * time.Hour)},
	}
}

func TestRunningCommandsOfAnAppAreShownAndStopped(t *testing.T) {
	p := inPage(t, style.Light, 880)
	v := full()
	p.show(v)
	p.open("a")
	if p.detail.running.Box.Visible() {
		t.Error("the section takes space while nothing runs")
	}
	v.Apps.Commands = running()
	p.show(v)
	if !p.detail.running.Box.Visible() {
		t.Error("the section is hidden while commands run")
	}
	pagetest.Shows(t, p.Box, "RUNNING NOW", "nas · since 11:40", "make -j4", "laptop · since yesterday")
	v.Apps.Commands = v.Apps.Commands[:1]
	p.show(v)
	test.Tap(pagetest.Button(t, p.Box, "Stop"))
	if b := pagetest.Button(t, p.Box, "Stopping…"); !b.Disabled() || !slices.Equal(p.stopped, []string{"c1"}) {
		t.Errorf("stopped %v, disabled %v", p.stopped, b.Disabled())
	}
	p.end(errors.New("nas is offline"))
	if want := []string{"say The command was not stopped: nas is offline"}; !slices.Equal(p.Did, want) {
		t.Errorf("did %q, want %q", p.Did, want)
	}
	test.Tap(pagetest.Button(t, p.Box, "Stop"))
	if p.end(nil); len(p.Did) != 1 {
		t.Errorf("did %q after a stop without a failure", p.Did)
	}
	v.Apps.Commands = nil
	p.show(v)
	if p.detail.running.Box.Visible() {
		t.Error("the section stays after the last command")
	}
}

func TestTheLastCallsOfAnAppAreShownAndFollowed(t *testing.T) {
	p := inPage(t, style.Light, 880)
	v := full()
	p.show(v)
	p.open("a")
	pagetest.Shows(t, p.Box, "LAST CALLS", "Run make on nas", "Write a.txt on laptop · denied")
	p.Update()
	if p.loads != 1 {
		t.Errorf("%d loads, want 1", p.loads)
	}
	p.calls["a"] = append([]protocol.JournalEntry{{Tool: "fs_read", Node: "nas", Input: json.RawMessage(`{"path":"/srv/b.txt"}`), Status: protocol.CallDone}}, p.calls["a"]...)
	v.Apps.Apps = slices.Clone(v.Apps.Apps)
	v.Apps.Apps[0].Calls++
	p.show(v)
	pagetest.Shows(t, p.Box, "Read b.txt on nas")
	p.Leave()
	p.open("b")
	pagetest.Shows(t, p.Box, "None yet.")
	p.Leave()
	p.open("x")
	pagetest.Shows(t, p.Box, "The calls could not be loaded.", "The disk is full")
	loads := p.loads
	pagetest.Button(t, p.Box, "Try again").OnTap()
	if p.loads != loads+1 {
		t.Errorf("%d loads after Try again, want %d", p.loads, loads+1)
	}
}

func TestEmptyPageOffersTheProgramsOfThisComputer(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	synctest.Test(t, func(t *testing.T) {
		p := inPage(t, style.Light, 880)
		home := t.TempDir()
		if err := os.Mkdir(filepath.Join(home, ".cursor"), 0o755); err != nil {
			t.Fatal(err)
		}
		settings := filepath.Join(home, ".cursor", "mcp.json")
		p.offers.programs = &ClientPrograms{
			Feed: p.m.feed, Home: t.TempDir(), Command: "/bin/fairlead",
			Find:     func() ([]clients.Client, error) { return clients.All(home, home), nil },
			Argument: func(c clients.Client) []string { return c.Arguments("", "") },
		}
		p.show(feed.View{Apps: feed.ConnectedApps{Loaded: true}, Status: feed.Status{Status: protocol.Status{Listen: "127.0.0.1:8787"}}})
		p.offers.find()
		pagetest.Settle()
		pagetest.Shows(t, p.Box, "Connect one here")
		test.Tap(pagetest.Button(t, p.Box, "Connect Cursor…"))
		pagetest.Settle()
		pagetest.Shows(t, p.Box, "Connect Cursor", settings, "/bin/fairlead")
		pagetest.Shot(t, p.w, "apps-connect")
		test.Tap(pagetest.Button(t, p.Box, "Connect"))
		pagetest.Settle()
		pagetest.Shows(t, p.Box, "Cursor was not connected: Not connected") // the test has no gateway
		if _, err := os.Stat(settings); err == nil {
			t.Error("the settings were changed without a token")
		}
		p.Back()
		p.offers.showConnected(ClientChange{Client: p.offers.list[0]})
		pagetest.Shows(t, p.Box, "Cursor is connected", "Restart Cursor")
		pagetest.Settle()
	})
}

// TestChangesOfClientsFitANarrowWindow looks at the changes for the clients whose settings differ
// most.
func TestChangesOfClientsFitANarrowWindow(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	synctest.Test(t, func(t *testing.T) {
		p := inPage(t, style.Light, 480)
		pagetest.Largest(p.w)
		home := filepath.Join(t.TempDir(), "a-long-name-of-a-person-with-two-given-names")
		for path, text := range map[string]string{
			".claude.json":                   "{\n  \"mcpServers\": {\n    \"docs\": {\n      \"type\": \"http\"\n    }\n  }\n}\n",
			".gemini/settings.json":          `{"theme":"GitHub"}`,
			".codex/config.toml":             "model = \"m\"\n",
			".config/opencode/opencode.json": "{\n  // my theme\n  \"theme\": \"opencode\"\n}\n",
		} {
			path = filepath.Join(home, path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		p.offers.programs = &ClientPrograms{
			Feed: p.m.feed, Home: t.TempDir(), Command: "/usr/bin/fairlead",
			Find:     func() ([]clients.Client, error) { return clients.All(home, filepath.Join(home, ".config")), nil },
			Argument: func(c clients.Client) []string { return c.Arguments("", "") },
		}
		p.offers.find()
		pagetest.Settle()
		if len(p.offers.list) < 4 {
			t.Fatalf("offers: got %v, want four or more", p.offers.list)
		}
		p.show(full())
		pagetest.Fits(t, p.w)
		if !p.offers.link.Visible() {
			t.Error("with a connected app, the page offers no further client")
		}
		for _, c := range p.offers.list {
			p.offers.open(c)
			pagetest.Settle()
			pagetest.Fits(t, p.w)
			pagetest.Shot(t, p.w, "apps-connect-"+c.ID)
		}
		p.Back()
		v := full()
		v.Status.Listen, v.Apps.Apps = "", nil
		p.show(v)
		pagetest.Shows(t, p.Box, "Apps cannot connect")
		pagetest.Fits(t, p.w)
		if p.offers.link.Visible() {
			t.Error("without an address, clients can be connected")
		}
		pagetest.Settle()
	})
}
