package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
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

// gateway stores rules as the real one does; a rule without a verdict is disabled.
type gateway struct {
	rules []protocol.Rule
	did   []string
	fail  error
}

func (g *gateway) note(f string, a ...any) { g.did = append(g.did, fmt.Sprintf(f, a...)) }

func (g *gateway) Invoke(_ context.Context, method string, params any) (json.RawMessage, error) {
	var result any = protocol.OK{}
	switch p := params.(type) {
	case protocol.RulePutParams:
		g.note("put %s %s", p.ID, strings.Join(strings.Fields(string(p.Policy)), ""))
		r := protocol.Rule{ID: p.ID, Policy: p.Policy, Words: "Kept"}
		if !strings.Contains(string(p.Policy), "verdict") {
			r.Problem = "it has no verdict"
		}
		result = r
	case protocol.RuleParams:
		g.note("%s %s", strings.TrimPrefix(method, "rules."), p.ID)
	case protocol.RulesImportParams:
		g.note("import %s", p.File)
		result = protocol.RulesImportResult{Added: 2, Skipped: 1, Problems: []string{"rule 3: ls does not match"}}
	case protocol.RuleTryParams:
		result = protocol.RuleTryResult{
			Looked: 300, Changed: []protocol.RuleChange{{Call: protocol.JournalEntry{
				CallID: "1", Tool: "Bash", Node: "server",
				Input: json.RawMessage(`{"command":"git status -s"}`), RequestedAt: 990_000,
			}, Was: "ask", Now: "allow"}}, Words: "Allow git status with anything after it on server", Matched: []protocol.JournalEntry{{Tool: "Bash", Node: "server", Input: json.RawMessage(`{"command":"git status -s"}`)}},
			Unmatched: []protocol.JournalEntry{{Tool: "Bash", Node: "server", Input: json.RawMessage(`{"command":"git push"}`)}},
		}
	default:
		switch method {
		case protocol.RulesList.Name:
			result = protocol.RulesResult{Rules: g.rules, Default: "ask"}
		case protocol.RulesSave.Name:
			result = protocol.RulesExport{File: []byte(`{"rules":[]}`)}
		}
	}
	raw, err := protocol.Marshal(result)
	return raw, errors.Join(err, g.fail)
}

// window is the window around the page; it runs everything at once.
type window struct {
	pagetest.Host
	saved string
}

func (w *window) Open(to host.Target) {
	switch to := to.(type) {
	case host.SaveFile:
		var b strings.Builder
		said, err := to.Write(context.Background(), &b)
		w.saved = fmt.Sprintln(to.Name, b.String(), said, err)
	case host.OpenFile:
		to.Read([]byte(`{"rules":[]}`))
	default:
		w.Host.Open(to)
	}
}

func (w *window) Run(ctx context.Context, failed string, work func(context.Context) error, done func()) {
	if err := work(ctx); err != nil {
		w.Say(failed + ": " + err.Error())
		return
	}
	done()
}

type bench struct {
	*Page
	g      *gateway
	w      fyne.Window
	window *window
}

func newBench(t testing.TB, mode style.Mode) *bench {
	ctx, _ := pagetest.Start(t, mode)
	b := &bench{g: &gateway{}, window: &window{}}
	b.g.rules = []protocol.Rule{
		{
			ID: "1", Words: "Allow git status with anything after it on server", Origin: protocol.RuleFromQuestion, CreatedBy: "owner this computer", CreatedAt: 900_000, Hits: 12,
			LastUsed: 950_000, Policy: json.RawMessage(`{"tool":"Bash","argv":["git","status","**"],"node":"server","verdict":"allow"}`),
		},
		{ID: "2", Words: "Deny Bash", Origin: protocol.RuleFromPerson, Policy: json.RawMessage(`{"tool":"Bash","verdict":"deny"}`), Problem: "its example “ls -la” must not match and does"},
		{ID: "3", Words: "Allow make", Origin: protocol.RuleFromImport, Policy: json.RawMessage(`{"tool":"Bash","argv":["make"],"verdict":"allow","expires":"1970-01-01T00:10:00Z"}`)},
		{ID: "grant:4", Words: "Allow exactly this command on server, in one chat", Origin: protocol.RuleFromChat, Policy: json.RawMessage(`{"verdict":"allow"}`)},
		{ID: "cfg", Words: "deny gsv__Write", Origin: protocol.RuleFromConfig, Policy: json.RawMessage(`{"id":"cfg","tool":"gsv__Write","decision":"deny"}`)},
	}
	b.Page = newPage(ctx, b.g, host.Env{Host: b.window, Drafts: &unsaved.Store{}})
	b.run = func(work func(context.Context) error, done func(error)) { done(work(t.Context())) }
	b.now = func() time.Time { return time.UnixMilli(1_000_000) }
	b.w = pagetest.Window(t, b.Box, 880, 560)
	b.Load()
	return b
}

func TestRulesAreListedWithTheirUseAndOrigin(t *testing.T) {
	for mode, name := range map[style.Mode]string{style.Light: "rules", style.Dark: "rules-dark"} {
		b := newBench(t, mode)
		pagetest.Shot(t, b.w, name)
		pagetest.Shows(t, b.Box, "12 uses, last", "Created from a question, on this computer", "off", "must not match and does", "expired", "From All settings, Tool rules", "5 rules. Without a rule, reading in the workspace is allowed, and everything else asks. 1 rule is turned off.")
		b.open(b.shown[0])
		pagetest.Shot(t, b.w, name+"-one")
		pagetest.Shows(t, b.Box, "Checked against the last 300 calls: it changes 1 decision, such as from ask to allow.", "Earlier calls that it covers", "git status -s", "Similar calls that it does not cover", "git push", "anything after it", "Delete")
	}
}

func TestNoRules(t *testing.T) {
	b := newBench(t, style.Light)
	b.g.rules = nil
	b.Load()
	golden.Markup(t, "empty", b.Box)
	b.g.fail = errors.New("no connection")
	b.Load()
	pagetest.Shows(t, b.Box, "The rules could not be loaded.", "no connection", "Try again")
}

func TestDoubleClickOnNewRuleLeavesTheFormOpen(t *testing.T) {
	b := newBench(t, style.Light)
	button := pagetest.Button(t, b.Box, "New rule")
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(button)
	test.Tap(button)
	var under []string
	widgettest.Visit(b.Box, func(o fyne.CanvasObject) {
		other, ok := o.(*widgets.Button)
		pos := fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
		if ok && pos.X < at.X+button.Size().Width && at.X < pos.X+o.Size().Width && pos.Y < at.Y+button.Size().Height && at.Y < pos.Y+o.Size().Height {
			under = append(under, other.Text)
		}
	})
	if under != nil {
		t.Errorf("In the place of “New rule”: got %v, want no button", under)
	}
}

func TestRulesAreFound(t *testing.T) {
	b := newBench(t, style.Light)
	b.search.SetText("git SERVER")
	if len(b.shown) != 1 || b.shown[0].ID != "1" {
		t.Errorf(`found: got %v; want length 1 and shown[0].ID "1"`, b.shown)
	}
	b.search.SetText("nothing like it")
	pagetest.Shows(t, b.Box, "No rule found")
}

// choose chooses a menu item by its label.
func choose(t *testing.T, items []*fyne.MenuItem, label string) {
	t.Helper()
	for _, item := range items {
		if item.Label == label {
			item.Action()
			return
		}
	}
	t.Fatalf("no menu item %q", label)
}

func TestNewRuleIsMadeWordByWord(t *testing.T) {
	b := newBench(t, style.Light)
	b.view = feed.View{Machines: []protocol.NodeInfo{{ID: "n1", Name: "tower"}}, Sessions: feed.Sessions{List: []protocol.SessionEntry{{SessionKey: "s", Title: "The parser"}}}}
	pagetest.Button(t, b.Box, "New rule").OnTap()
	if b.Back(); b.detail != nil {
		t.Error("an unchanged form does not close")
	}
	pagetest.Button(t, b.Box, "New rule").OnTap()
	b.g.did = nil
	b.detail.save()
	pagetest.Shows(t, b.Box, "Enter the command that the rule allows.")
	if len(b.g.did) > 0 {
		t.Errorf("a rule without a command is sent: %q", b.g.did)
	}
	f := b.detail.form
	f.command.SetText("git push origin main")
	choose(t, f.wordMenu(2), "Any value")
	choose(t, f.wordMenu(3), "Any value")
	choose(t, f.wordMenu(3), "Exactly “main”")
	choose(t, f.furtherMenu(), "Anything after it")
	choose(t, f.machineMenu(), "tower")
	choose(t, f.chatMenu(), "The parser")
	f.folder.SetText("/srv/app")
	pagetest.Shows(t, b.Box, "git ", "any value", "anything after it", "tower", "The parser")
	pagetest.Shot(t, b.w, "rule-form")
	f.command.SetText("git push 'origin")
	pagetest.Shows(t, b.Box, "Enter one command, such as git push")
	if !b.Back() || b.detail != nil {
		t.Error("Back does not leave a form with unsaved changes")
	}
	pagetest.Button(t, b.Box, "New rule").OnTap()
	pagetest.Shows(t, b.Box, widgets.DraftRestored, "git push 'origin", "any value", "tower")
	b.g.did = nil
	b.detail.save()
	pagetest.Shows(t, b.Box, "Enter one command, such as git push")
	if len(b.g.did) > 0 {
		t.Errorf("a rule with an earlier text of its command is saved: %q", b.g.did)
	}
	b.detail.form.command.SetText("git push * main")
	b.detail.save()
	want := `put  {"argv":["git","push","*","main","**"],"cwd":"/srv/app/**","node":"n1","session":"s","tool":"Bash","verdict":"allow"}`
	if got := strings.Join(b.g.did, "\n"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRuleAboutFilesHasAPattern(t *testing.T) {
	b := newBench(t, style.Dark)
	b.w.Resize(fyne.NewSize(480, 560))
	pagetest.Button(t, b.Box, "New rule").OnTap()
	f := b.detail.form
	choose(t, f.toolMenu(), "Write files")
	f.path.SetText("docs/**")
	f.folder.SetText("/srv/app")
	f.below.SetChecked(false)
	pagetest.Shot(t, b.w, "rule-form-files-narrow")
	b.detail.save()
	want := `put  {"cwd":"/srv/app","path":"docs/**","tool":"Write","verdict":"allow"}`
	if got := strings.Join(b.g.did, "\n"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRuleBeyondTheFormIsEditedAsJSON(t *testing.T) {
	b := newBench(t, style.Light)
	b.open(protocol.Rule{ID: "1", Policy: json.RawMessage(`{"tool":"Bash","when":[{"path":"command","op":"contains","value":"x"}],"verdict":"deny"}`), Origin: protocol.RuleFromPerson})
	if b.detail.form != nil {
		t.Error("the form shows only a part of the rule")
	}
	b.detail.switchEditor()
	pagetest.Shows(t, b.Box, "edit it as JSON")
	b.detail.text.SetText(`{"tool":"Bash","argv":["make"],"verdict":"deny"}`)
	b.detail.switchEditor()
	if b.detail.form == nil || b.detail.form.command.Text != "make" {
		t.Error("the form does not show the JSON")
	}
}

func TestChangedRuleIsSaved(t *testing.T) {
	b := newBench(t, style.Light)
	b.open(b.shown[0])
	f := b.detail.form
	choose(t, f.verdictMenu(), "Deny")
	choose(t, f.expiresMenu(), "In an hour")
	if f.verdict.Text != "Deny" || f.expires.Text == "No expiry" {
		t.Errorf("got %q, %q, want Deny and an expiry", f.verdict.Text, f.expires.Text)
	}
	b.detail.save()
	if got := strings.Join(b.g.did, "\n"); got != `put 1 {"argv":["git","status","**"],"expires":"1970-01-01T01:16:40Z","node":"server","tool":"Bash","verdict":"deny"}` {
		t.Errorf("did: got %s, want `put 1 {\"argv\":[\"git\",\"status\",\"**\"],\"expires\":\"1970-01-01T01:16:40Z\",\"node\":\"server\",\"tool\":\"Bash\",\"verdict\":\"deny\"}`", got)
	}
	if b.detail != nil {
		t.Error("the list is not shown again")
	}
}

func TestInvalidRuleStaysOpen(t *testing.T) {
	b := newBench(t, style.Light)
	b.open(b.shown[0])
	b.detail.switchEditor()
	b.detail.text.SetText("{")
	b.detail.save()
	pagetest.Shows(t, b.Box, "This is not valid JSON")
	if b.g.did != nil {
		t.Errorf("did: got %v, want no g.did", b.g.did)
	}
	b.detail.text.SetText(`{"tool":"Bash"}`)
	b.detail.save()
	pagetest.Shows(t, b.Box, "Turned off: it has no verdict")
	b.detail.switchEditor()
	b.g.fail = errors.New("unknown field argw")
	b.detail.save()
	pagetest.Shows(t, b.Box, "The rule was not saved: unknown field argw")
}

func TestDeletedRuleIsRestored(t *testing.T) {
	b := newBench(t, style.Light)
	b.open(b.shown[0])
	b.remove(b.detail.rule)
	b.window.Undone()
	if got := strings.Join(b.g.did, ", "); got != "delete 1, restore 1" {
		t.Errorf(`did: got %s; want "delete 1, restore 1"`, got)
	}
}

func TestRulesOfTheConfigurationAreOnlyShown(t *testing.T) {
	b := newBench(t, style.Light)
	b.open(b.shown[4])
	pagetest.Shows(t, b.Box, "This rule is from All settings")
	if markup := test.RenderObjectToMarkup(b.Box); strings.Contains(markup, "Delete<") || strings.Contains(markup, "Keep<") {
		t.Error("it can be changed")
	}
	b.open(b.shown[3])
	pagetest.Shows(t, b.Box, "Revoke")
}

func TestRulesAreExportedAndImported(t *testing.T) {
	b := newBench(t, style.Light)
	b.save()
	b.load()
	if b.window.saved != `fairlead-rules.json {"rules":[]} The rules were saved. <nil>`+"\n" || b.g.did[0] != `import {"rules":[]}` {
		t.Errorf("saved %q, did %v", b.window.saved, b.g.did)
	}
	if got := strings.Join(b.window.Did, ""); got != "say 2 rules were added. 1 already existed. Problem: rule 3: ls does not match" {
		t.Errorf(`said: got %q, want "say 2 rules were added. 1 already existed. Problem: rule 3: ls does not match"`, got)
	}
}

// TestTenThousandRulesDrawOnlyVisibleRows: as many rows as fit the window are built, however many
// rules there are.
func TestTenThousandRulesDrawOnlyVisibleRows(t *testing.T) {
	b := newBench(t, style.Light)
	b.g.rules = manyRules(b.g.rules[0])
	built, create := 0, b.List.CreateItem
	b.List.CreateItem = func() fyne.CanvasObject { built++; return create() }
	b.Load()
	if built > 30 {
		t.Errorf("10,000 rules: built %d rows, want those that fit the window", built)
	}
	b.search.SetText("9999")
	if len(b.shown) != 1 {
		t.Errorf("found %d rules, want 1", len(b.shown))
	}
}

// BenchmarkTenThousandRules lists 10,000 rules and searches them.
func BenchmarkTenThousandRules(b *testing.B) {
	p := newBench(b, style.Light)
	p.g.rules = manyRules(p.g.rules[0])
	for b.Loop() {
		p.search.SetText("")
		p.Load()
		p.search.SetText("9999")
	}
}

func manyRules(one protocol.Rule) []protocol.Rule {
	rules := make([]protocol.Rule, 10_000)
	for i := range rules {
		one.ID, one.Words = fmt.Sprint(i), fmt.Sprintf("Allow make %d", i)
		rules[i] = one
	}
	return rules
}

func TestButtonsOfARuleStayInView(t *testing.T) {
	b := newBench(t, style.Light)
	b.w.Resize(fyne.NewSize(480, 360))
	b.open(b.shown[0])
	save := pagetest.Button(t, b.Box, "Save")
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(save)
	if bottom := at.Y + save.Size().Height; at.Y <= 0 || bottom > 360 {
		t.Errorf("Save ends at %v in a window of height 360; want at most 360", bottom)
	}
	b.detail.form.folder.SetText("/srv")
	pagetest.Button(t, b.Box, "Cancel").OnTap()
	b.open(b.shown[0])
	if b.detail.draft.IsRestored {
		t.Error("Cancel leaves a draft")
	}
}

func TestRulesFitANarrowWindow(t *testing.T) {
	b := newBench(t, style.Light)
	pagetest.Largest(b.w)
	pagetest.Fits(t, b.w)
	pagetest.Shot(t, b.w, "rules-largest")
	b.open(b.shown[0])
	pagetest.Fits(t, b.w)
	b.Leave()
	b.g.rules = nil
	b.Load()
	pagetest.Fits(t, b.w)
}
