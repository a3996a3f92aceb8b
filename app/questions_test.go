package app

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
	"fairlead/tray"
)

func pairRequest(id protocol.QuestionID, name string) protocol.Question {
	return protocol.Question{
		ID: id, Kind: protocol.AskPair, ExpiresAt: time.Now().Add(time.Minute).UnixMilli(), Pairing: &protocol.PairingSubject{
			Words:  []string{"cobalt", "otter", "lamp", "nine"},
			Device: protocol.Device{Name: name, Hostname: "vm", Role: protocol.RoleNode, OS: "Debian 12", Address: "10.0.0.9"},
		},
	}
}

// postponed returns the only question of a view as the gateway has it after Not now. The tests have no
// gateway that confirms it.
func postponed(v feed.View) []protocol.Question {
	q := v.Questions.Pending[0]
	q.Later = time.Now().Add(time.Minute).UnixMilli()
	return []protocol.Question{q}
}

func TestAPairingRequestIsAQuestionEverywhere(t *testing.T) {
	u := newTestUI(t)
	f := &pagetest.Notifier{}
	u.notes.Notifier = f
	want := f.Wants(t)
	v := sample()
	v.Questions.Pending = []protocol.Question{pairRequest("r", "tower")}
	u.update(v)
	if u.places.questions.window == nil {
		t.Fatal("no window asks")
	}
	if title := u.places.questions.window.Title(); title != "Pair “tower”?" {
		t.Errorf(`the window is called %q, want "Pair “tower”?"`, title)
	}
	pagetest.Shows(t, u.places.questions.window.Content(), "It wants to be a machine", "cobalt-otter-lamp-nine", "left", "Deny", "Allow in 2 s")
	want(`show r "Pair “tower”?" allow false deny false`)
	if got := lines(u.main); !strings.HasPrefix(got, "Pair “tower”?\n") {
		t.Errorf("sidebar:\n%s", got)
	}
	u.env(nil).Open(host.Question(""))
	pagetest.Shows(t, u.main.Pages.Page().Content(), "Pair “tower”?")
	pagetest.Shot(t, u.places.questions.window, "pairing")

	// Postponed, the request stays on the page, and can be shown again.
	u.know(v)
	test.Tap(pagetest.Button(t, u.places.questions.window.Content(), "Not now"))
	v.Questions.Pending = postponed(v)
	u.update(v)
	if u.places.questions.window != nil {
		t.Fatal("the window asks on")
	}
	u.tray.run(tray.ContentOf(v, time.Now()).Items[2].Items[0])
	u.update(u.backend.Feed.View())
	if u.places.questions.window == nil || u.places.questions.dialog.Current().ID != "r" {
		t.Fatal("the tray does not show the request")
	}

	// Answered here or elsewhere, it is over.
	v.Questions.Pending = []protocol.Question{pairRequest("s", "attic")}
	u.update(v)
	if u.places.questions.window == nil || u.places.questions.window.Title() != "Pair “attic”?" {
		t.Error("the next request is not shown")
	}
	v.Questions.Pending = nil
	u.update(v)
	if u.places.questions.window != nil {
		t.Error("the window asks about nothing")
	}
	u.env(nil).Open(host.Question(""))
	pagetest.Shows(t, u.main.Pages.Page().Content(), "Nothing needs you")
}

func TestAMachineThatOffersMoreIsAQuestionEverywhere(t *testing.T) {
	u := newTestUI(t)
	f := &pagetest.Notifier{}
	u.notes.Notifier = f
	want := f.Wants(t)
	v := sample()
	v.Questions.Pending = []protocol.Question{{ID: "w", Kind: protocol.AskWiden, Pairing: &protocol.PairingSubject{Device: protocol.Device{Name: "nas"}, Wider: []string{"the tool Write"}}}}
	u.update(v)
	if u.places.questions.window == nil {
		t.Fatal("no window asks")
	}
	pagetest.Shows(t, u.places.questions.window.Content(), "Allow more on “nas”?", "the tool Write", "Deny", "Allow in 2 s")
	pagetest.Shot(t, u.places.questions.window, "widen")
	want(`show w "Allow more on “nas”?" allow false deny false`)
	if got := lines(u.main); !strings.HasPrefix(got, "Allow more on “nas”?\n") {
		t.Errorf("sidebar:\n%s", got)
	}
	u.env(nil).Open(host.Question(""))
	pagetest.Shows(t, u.main.Pages.Page().Content(), "Allow more on “nas”?", "the tool Write")

	// A request with a time limit comes first, and this one again after it.
	widen := v.Questions.Pending
	v.Questions.Pending = append([]protocol.Question{pairRequest("r", "tower")}, widen...)
	u.update(v)
	if got := u.places.questions.window.Title(); got != "Pair “tower”?" {
		t.Errorf(`the window asks %q, want "Pair “tower”?"`, got)
	}
	v.Questions.Pending = widen
	u.update(v)
	if got := u.places.questions.window.Title(); got != "Allow more on “nas”?" {
		t.Errorf(`the window asks %q, want "Allow more on “nas”?"`, got)
	}
}

func TestNewMachineOpensThePageThatAddsOne(t *testing.T) {
	u := newTestUI(t)
	v := sample()
	v.Machines = nil
	u.update(v)
	u.env(nil).Open(host.NewMachine{})
	pagetest.Shows(t, u.main.Pages.Page().Content(), "Add a machine", "Let other machines connect")
	u.places.nav.open(machinesTitle, host.Machine(""))
	if s := golden.Words(u.main.Pages.Page().Content()); strings.Contains(s, "NETWORK") {
		t.Errorf("it opens again: %s", s)
	}
}

func TestAnAppThatAsksToConnectIsAQuestionEverywhere(t *testing.T) {
	u := newTestUI(t)
	f := &pagetest.Notifier{}
	u.notes.Notifier = f
	want := f.Wants(t)
	v := sample()
	v.Questions.Pending = []protocol.Question{{
		ID: "c", Kind: protocol.AskApp, ExpiresAt: time.Now().Add(5 * time.Minute).UnixMilli(),
		App: &protocol.AppSubject{Name: "Claude Code", ClientHost: "claude.example", IsLocal: true, Code: "K7WQ", Scopes: []protocol.Scope{protocol.ScopeShell}},
	}}
	u.update(v)
	if u.places.questions.window == nil || u.places.questions.window.Title() != "Connect “Claude Code”?" {
		t.Fatal("no window asks")
	}
	pagetest.Shows(t, u.places.questions.window.Content(), "claude.example", "K7WQ", "Run commands", "All machines", "left", "Deny", "Allow in 2 s")
	pagetest.Shot(t, u.places.questions.window, "consent")
	want(`show c "Connect “Claude Code”?" allow false deny false`)
	if got := lines(u.main); !strings.HasPrefix(got, "Connect “Claude Code”?\n") {
		t.Errorf("sidebar:\n%s", got)
	}
	u.env(nil).Open(host.Question(""))
	pagetest.Shows(t, u.main.Pages.Page().Content(), "Connect “Claude Code”?", "K7WQ")
	u.know(v)
	test.Tap(pagetest.Button(t, u.places.questions.window.Content(), "Not now"))
	v.Questions.Pending = postponed(v)
	u.update(v)
	if u.places.questions.window != nil {
		t.Fatal("the window asks on")
	}
	tray := tray.ContentOf(v, time.Now())
	if tray.Status != "Connect “Claude Code”?" {
		t.Errorf(`the tray says %q, want "Connect “Claude Code”?"`, tray.Status)
	}
	u.tray.run(tray.Items[2].Items[0])
	u.update(u.backend.Feed.View())
	if u.places.questions.window == nil || u.places.questions.dialog.Current().ID != "c" {
		t.Fatal("the tray does not show the question")
	}
	v.Questions.Pending = nil
	u.update(v)
	if u.places.questions.window != nil {
		t.Error("the window asks about nothing")
	}
}

func TestAServersQuestionIsAQuestionEverywhere(t *testing.T) {
	u := newTestUI(t)
	f := &pagetest.Notifier{}
	u.notes.Notifier = f
	want := f.Wants(t)
	v := sample()
	v.Questions.Pending = []protocol.Question{{
		ID: "q", Kind: protocol.AskInput, ExpiresAt: time.Now().Add(5 * time.Minute).UnixMilli(), Input: &protocol.InputSubject{
			Server: "docs", Message: "Which branch?", Fields: []protocol.Field{{Name: "branch", Title: "Branch", Kind: "text", Required: true}},
		},
	}}
	u.update(v)
	if u.places.questions.window == nil || u.places.questions.window.Title() != "“docs” asks you a question" {
		t.Fatal("no window asks")
	}
	pagetest.Shows(t, u.places.questions.window.Content(), "Which branch?", "Branch", "left", "Decline", "Send in 2 s")
	pagetest.Shot(t, u.places.questions.window, "server-question")
	want(`show q "“docs” asks you a question" allow false deny false`)
	if got := lines(u.main); !strings.HasPrefix(got, "“docs” asks you a question\n") {
		t.Errorf("sidebar:\n%s", got)
	}
	u.env(nil).Open(host.Question(""))
	pagetest.Shows(t, u.main.Pages.Page().Content(), "“docs” asks you a question", "Which branch?")
	tray := tray.ContentOf(v, time.Now())
	if tray.Needs != 1 || tray.Items[2].Items[0].Question != "q" {
		t.Errorf("the tray needs %d: %+v", tray.Needs, tray.Items[2])
	}

	// Closing the window cancels the question.
	u.know(v)
	u.places.questions.dialog.Close()
	v = u.backend.Feed.View()
	u.update(v)
	if n := len(v.Questions.Pending); n != 0 || u.places.questions.window != nil {
		t.Errorf("%d questions after closing, window %v; want 0 and nil", n, u.places.questions.window)
	}
}
