package channels

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// bench is a page without a gateway: the test sets its states.
type bench struct {
	*Page
	w fyne.Window
	*pagetest.Host
}

func inPage(t *testing.T, mode style.Mode, width float32) *bench {
	t.Helper()
	ctx, app := pagetest.Start(t, mode)
	b := &bench{Host: &pagetest.Host{}}
	b.Page = newPage(ctx, host.Env{Host: b.Host, Feed: app.Feed, Drafts: app.Drafts})
	b.now = pagetest.Clock
	b.w = pagetest.Window(t, b.Box, width, 760)
	return b
}

var kind = protocol.ChannelKind{Channel: "xmpp", Title: "XMPP (Jabber)", Fields: []protocol.ChannelField{
	{Name: "jid", Title: "Address of the agent's account, such as agent@example.org", Required: true},
	{Name: "password", Title: "Password", Required: true, Secret: true},
	{Name: "certificate", Title: "Certificate (PEM) to trust for this server, where it has none that the system trusts", Long: true},
}}

func at(d time.Duration) int64 { return pagetest.Noon.Add(d).UnixMilli() }

func account(id, state_ string, change func(*protocol.ChannelAccountStatus)) Account {
	a := Account{Channel: "xmpp", Kind: kind, Own: true, ChannelAccountStatus: protocol.ChannelAccountStatus{
		AccountID: id, State: state_, Settings: map[string]json.RawMessage{"jid": json.RawMessage(`"` + id + `@example.org"`)},
	}}
	change(&a.ChannelAccountStatus)
	return a
}

func full() View {
	return View{
		Loaded: true, Kinds: []protocol.ChannelKind{kind}, Policies: map[string]Policy{"xmpp": {AllowFrom: []string{"me@example.org", strings.Repeat("long", 40) + "@example.org"}}},
		Accounts: []Account{
			account("agent", protocol.AccountConnected, func(s *protocol.ChannelAccountStatus) {
				s.LastActivity, s.Waiting = at(-time.Hour), 2
				s.Settings["certificate"] = json.RawMessage(`"-----BEGIN CERTIFICATE-----\nMIIB"`)
			}),
			account("away", protocol.AccountOffline, func(s *protocol.ChannelAccountStatus) {
				s.Error, s.RetryAt = "dial tcp: connection refused", at(30*time.Second)
			}),
			account("barred", protocol.AccountNoLogin, func(s *protocol.ChannelAccountStatus) {
				s.Error = "cannot log in: " + strings.Repeat("the server says not-authorized ", 6)
			}),
			account("off", protocol.AccountStopped, func(*protocol.ChannelAccountStatus) {}),
			{Channel: "telex", ChannelAccountStatus: protocol.ChannelAccountStatus{AccountID: "office", Connected: true, State: protocol.AccountConnected}},
		},
		Pending: []protocol.PendingPair{
			{Channel: "xmpp", SenderID: "ann@example.org", SenderName: "Ann", RequestedAt: at(-10 * time.Minute), FirstMessage: "Hello, may I?", AccountID: "agent"},
			{Channel: "xmpp", SenderID: strings.Repeat("very-long-", 15) + "@example.org", RequestedAt: at(-25 * time.Hour), FirstMessage: strings.Repeat("let me in ", 19)},
		},
	}
}

// squares is a picture as small as real QR codes.
func squares(t *testing.T) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 29, 29))
	for i := range 29 * 29 {
		if i*i%7 < 3 {
			img.SetGray(i%29, i/29, color.Gray{Y: 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestViewsMatchGolden(t *testing.T) {
	p := inPage(t, style.Light, 880)
	golden.Markup(t, "loading", p.Box)
	p.show(View{Loaded: true, Kinds: []protocol.ChannelKind{kind}})
	golden.Markup(t, "empty", p.Box)
	p.show(View{Problem: "The disk is full"})
	golden.Markup(t, "problem", p.Box)
	p.show(full())
	golden.Markup(t, "list", p.Box)
	p.open("xmpp:agent")
	golden.Markup(t, "detail", p.Box)
	v := full()
	v.Logins = map[string]Login{"xmpp:agent": {QR: squares(t), Message: "Scan this with your phone."}}
	p.show(v)
	golden.Markup(t, "detail-login", p.Box)
	p.openForm()
	golden.Markup(t, "form", p.Box)
}

func TestEveryViewInLightAndDarkWideAndNarrow(t *testing.T) {
	for mode, name := range map[style.Mode]string{style.Light: "light", style.Dark: "dark"} {
		for width, size := range map[float32]string{860: "", 520: "-narrow"} {
			p := inPage(t, mode, width)
			p.show(full())
			fits := func(what string) {
				pagetest.Shot(t, p.w, "channels-"+what+name+size)
				if w := p.Box.MinSize().Width; w > 480 {
					t.Errorf("%s needs a width of %v, want at most 480", what, w)
				}
			}
			fits("")
			pagetest.Shows(t, p.Box, "Ann (ann@example.org)", "Hello, may I?", "connected", "login failed", "stopped", "Allow", "Deny")
			v := full()
			v.Logins = map[string]Login{"xmpp:agent": {QR: squares(t), Message: "Scan this with your phone."}}
			p.open("xmpp:agent")
			fits("one-")
			pagetest.Shows(t, p.Box, "saved, never shown", "2 messages waiting to be delivered", "-----BEGIN CERTIFICATE----- …", "People I allow", "me@example.org")
			p.show(v)
			fits("qr-")
			p.open("xmpp:barred")
			fits("barred-")
			p.openForm()
			fits("form-")
		}
	}
}

func TestAccountSaysWhatToDoAndCountsDown(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(full())
	p.open("xmpp:away")
	if got, want := p.detail.state.Text(), "Offline: dial tcp: connection refused. Trying again in 30 s."; got != want {
		t.Errorf("Text: got %q, want %q", got, want)
	}
	p.now = func() time.Time { return pagetest.Noon.Add(20 * time.Second) }
	p.detail.tick()
	if got := p.detail.state.Text(); !strings.HasSuffix(got, "in 10 s.") {
		t.Errorf(`got %v; want a text that ends with "in 10 s."`, got)
	}
	for key, button := range map[string]string{"xmpp:away": "Stop", "xmpp:agent": "Stop", "xmpp:off": "Start", "xmpp:barred": "Start"} {
		t.Run(key, func(t *testing.T) {
			p.open(key)
			if p.detail.toggle.Text != button {
				t.Errorf("%s offers %s, want %s", key, p.detail.toggle.Text, button)
			}
		})
	}
	p.open("telex:office")
	if p.detail.toggle.Visible() || p.detail.logout.Visible() {
		t.Error("an account of another program can be stopped")
	}
	v := full()
	v.Accounts[0].Busy = "Stopping…"
	p.open("xmpp:agent")
	p.show(v)
	if !p.detail.toggle.Disabled() || p.detail.state.Text() != "Stopping…" {
		t.Errorf(`while it is being stopped it says %q; want "Stopping…"`, p.detail.state.Text())
	}
}

func TestLoggingOutAsksForConfirmation(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(full())
	p.open("xmpp:agent")
	test.Tap(pagetest.Button(t, p.Box, "Log out"))
	pagetest.Shows(t, p.Box, "undelivered messages")
	p.show(full())
	test.Tap(pagetest.Button(t, p.Box, "Log out and delete"))
	if a, _ := p.m.Value.Get().Account("xmpp:agent"); a.Busy == "" && p.detail.confirmingLogout {
		t.Error("nothing happens")
	}
	v := full()
	v.Accounts = v.Accounts[1:]
	p.show(v)
	if p.detail != nil {
		t.Error("the page of an account that is gone is shown")
	}
	if p.w.Canvas().Focused() == nil {
		t.Error("the keyboard is nowhere")
	}
}

func TestFormIsDrawnFromTheChannelsFields(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(full())
	p.openForm()
	count := func() (secrets, plain int) {
		widgettest.Visit(p.Box, func(o fyne.CanvasObject) {
			if e, ok := o.(*widgets.Entry); ok && e.Password {
				secrets++
			} else if ok && !e.MultiLine {
				plain++
			}
		})
		return secrets, plain
	}
	if secrets, plain := count(); secrets != 1 || plain != 1 {
		t.Errorf("at first: got %d secret and %d plain fields, want 1 and 1", secrets, plain)
	}
	test.Tap(pagetest.Button(t, p.Box, "More settings"))
	if secrets, plain := count(); secrets != 1 || plain != 2 {
		t.Errorf("with all settings: got %d secret and %d plain fields, want 1 and 2", secrets, plain)
	}
	pagetest.Shows(t, p.Box, "where it has none that the system trusts (optional)")
	before := p.Box.Objects[0]
	p.show(full())
	if p.Box.Objects[0] != before {
		t.Error("the form is disturbed by what comes in")
	}
	p.form.f.Values[kind.Fields[0].Name] = "me@example.org"
	p.form.saveDraft()
	if !p.Back() || p.form != nil {
		t.Error("Back does not leave the form")
	}
	test.Tap(pagetest.Button(t, p.Box, "Add account"))
	pagetest.Shows(t, p.Box, widgets.DraftRestored, "me@example.org")
	test.Tap(pagetest.Button(t, p.Box, "Cancel"))
	test.Tap(pagetest.Button(t, p.Box, "Add account"))
	if v := p.form.f.Values[kind.Fields[0].Name]; v != "" {
		t.Errorf("Address after Cancel: got %q, want none", v)
	}
	p.Back()
	p.open("xmpp:agent")
	test.Tap(pagetest.Button(t, p.Box, "Settings"))
	pagetest.Shows(t, p.Box, "Settings for agent", "Unchanged", "agent@example.org")
	test.Tap(pagetest.Button(t, p.Box, "Cancel"))
	pagetest.Button(t, p.Box, "Log in again")
}

func TestFormProblemsOfferAFix(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(full())
	o := &form{p: p.Page, f: newFields(kind, "x")}
	for err, want := range map[error][2]string{
		errors.New("cannot log in: wrong"):                       {"Cannot log in: wrong. Correct the fields above and try again.", "Try again"},
		protocol.ErrUnavailable.With("not connected: refused"):   {"Not connected: refused. The settings are saved.", "Keep trying"},
		fmt.Errorf("fill in: %s", kind.Fields[0].Title+" (jid)"): {"Fill in: Address", "Try again"},
	} {
		box := o.problem("xmpp:away", err)
		pagetest.Window(t, box, 600, 200)
		pagetest.Shows(t, box, want[0], want[1])
	}
}

func TestSavedAccountIsShownBeforeThePageIsNotified(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(View{Loaded: true, Kinds: []protocol.ChannelKind{kind}})
	p.openForm()
	p.m.Value.Update(func(v *View) { *v = full() })
	p.form.f.Account = "away"
	p.form.saveDraft()
	p.form.handleSaved("xmpp:away", nil)
	if p.detail == nil || p.detail.key != "xmpp:away" {
		t.Error("the account is not shown")
	}
}

func TestUnknownSendersAreAnsweredByKeyboardAndPaged(t *testing.T) {
	p := inPage(t, style.Light, 880)
	v := full()
	for i := range 60 {
		v.Pending = append(v.Pending, protocol.PendingPair{Channel: "xmpp", SenderID: fmt.Sprint("s", i)})
	}
	p.show(v)
	pagetest.Shows(t, p.Box, "42 more")
	test.Tap(pagetest.Button(t, p.Box, "42 more"))
	pagetest.Shows(t, p.Box, "22 more")
	first := pagetest.Button(t, p.Box, "Deny") // the last visible one
	p.w.Canvas().Focus(first)
	first.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	v.Pending = v.Pending[:1]
	p.show(v)
	if b := p.w.Canvas().Focused(); b != fyne.Focusable(pagetest.Button(t, p.Box, "Deny")) {
		t.Errorf("the keyboard is at %v, want %v", b, fyne.Focusable(pagetest.Button(t, p.Box, "Deny")))
	}
}

func TestSenderPolicyIsChosenAndReset(t *testing.T) {
	p := inPage(t, style.Light, 880)
	p.show(full())
	p.open("xmpp:agent")
	p.detail.policy.choose.SetSelectedIndex(2)
	p.detail.policy.name.SetText(" bob@example.org ")
	p.detail.policy.add()
	p.detail.policy.name.SetText("me@example.org")
	p.detail.policy.add()
	test.Tap(pagetest.Button(t, p.Box, "Remove"))
	want := "undo You changed who may write.|undo “bob@example.org” may write to the agent.|undo “" + strings.Repeat("long", 40) + "@example.org” may no longer write to the agent."
	if got := strings.Join(p.Did, "|"); got != want {
		t.Errorf("said: got %s, want %s", got, want)
	}
	v := full()
	v.Policies["xmpp"] = Policy{DMPolicy: policyOpen}
	p.show(v)
	pagetest.Shows(t, p.Box, "Everyone who knows the address", "Nobody yet.")
	if len(p.Did) != 3 {
		t.Error("what came in was taken for a choice")
	}
}
