package approve

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/look"
	"fairlead/app/pagetest"
	"fairlead/gateway/protocol"
)

// risky is a question about a command that the gateway took apart.
func risky(id string) protocol.Approval {
	q := ask(id, "make -j4 && sudo systemctl restart parser")
	q.Parts = []protocol.ApprovalPart{
		{Kind: "command", Text: "make -j4", Argv: []string{"make", "-j4"}, Verdict: "ask", Reason: "no rule names it"},
		{Kind: "command", Text: "sudo systemctl restart parser", Argv: []string{"sudo", "systemctl", "restart", "parser"}, Verdict: "ask", Floor: true, Reason: "it becomes another user"},
	}
	q.Preview.Programs = []protocol.Program{{Name: "make", Path: "/usr/bin/make"}, {Name: "sudo", Path: "/usr/bin/sudo"}}
	return q
}

// offering is a question that rules may be made of.
func offering(id string) protocol.Approval {
	q := ask(id, "make test")
	q.Choices = []string{protocol.ScopeOnce, protocol.ScopeSession, protocol.ScopeFolder, protocol.ScopeMachine, protocol.ScopeAlways}
	q.Offers = []protocol.RuleOffer{
		{Policy: json.RawMessage(`{"tool":"Bash","argv":["make","test"],"verdict":"allow"}`), Words: "Allow make test"},
		{Policy: json.RawMessage(`{"tool":"Bash","argv":["make","**"],"verdict":"allow"}`), Words: "Allow make with anything after it"},
	}
	for i, o := range q.Offers {
		q.Offers[i].As = map[string]protocol.RuleOffer{
			protocol.ScopeFolder: {
				Policy: json.RawMessage(strings.Replace(string(o.Policy), `,"verdict"`, `,"cwd":"/srv/parser/**","node":"server","verdict"`, 1)),
				Words:  o.Words + " in /srv/parser and below on server",
			},
			protocol.ScopeMachine: {Policy: o.Policy, Words: o.Words + " on server"},
			protocol.ScopeAlways:  o,
		}
	}
	return q
}

// twoParts is a question about a change in two places.
func twoParts(id string) protocol.Approval {
	q := ask(id, "")
	q.Tool, q.Effect = "Write", protocol.EffectWrite
	q.Args = json.RawMessage(`{"path":"/srv/parser/main.go","content":"package main\n\nfunc b() int { return 2 }\n\n\n\n\n\n\n// new\n"}`)
	q.Preview = &protocol.CallPreview{
		Folder: "/srv/parser", Path: "/srv/parser/main.go", Added: 2, Removed: 2,
		Diff: "--- main.go\n+++ main.go\n@@ -1,3 +1,3 @@\n package main\n \n-func a() int { return 1 }\n+func b() int { return 2 }\n@@ -9,2 +9,2 @@\n \n-// old\n+// new\n",
	}
	return q
}

// checks are the check boxes in view.
func (b *bench) checks() (out []*keyCheck) {
	var walk func(o fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *keyCheck:
			if o.Visible() {
				out = append(out, o)
			}
		case *fyne.Container:
			for _, x := range o.Objects {
				walk(x)
			}
		}
	}
	walk(b.body)
	return out
}

func (b *bench) toggle(i int) {
	b.t.Helper()
	all := b.checks()
	if i >= len(all) {
		b.t.Fatalf("there are %d check boxes", len(all))
	}
	all[i].SetChecked(!all[i].Checked)
}

func (b *bench) choose(label string) {
	b.t.Helper()
	for _, item := range b.scopes() {
		if strings.HasPrefix(item.Label, label) {
			item.Action()
			return
		}
	}
	b.t.Fatalf("no %q in the menu", label)
}

func TestRiskyPartsAreUnderlinedAndExplained(t *testing.T) {
	b := newBench(t, risky("q"))
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-risky")
	golden.Markup(t, "risky", b.Dialog)
	markup := test.RenderObjectToMarkup(b.Dialog)
	for _, want := range []string{"it becomes another user", "/usr/bin/sudo"} {
		if !strings.Contains(markup, want) {
			t.Errorf("%q is not shown", want)
		}
	}
}

func TestPartsOfAChangeAreAllowedAlone(t *testing.T) {
	b := newBench(t, twoParts("q"))
	golden.Markup(t, "parts", b.Dialog)
	b.wait(2 * time.Second)
	b.toggle(1)
	if b.allow.Main.Text != "Allow 1 of 2 parts" || b.allow.More.Visible() {
		t.Errorf("the button says %q", b.allow.Main.Text)
	}
	test.Tap(b.allow.Main) // what it does changed
	b.want()
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-parts")
	test.Tap(b.allow.Main)
	b.want("q allow once")
	var in struct{ Content string }
	if json.Unmarshal(b.replies[0].Args, &in); !strings.Contains(in.Content, "func b") || !strings.Contains(in.Content, "// old") {
		t.Errorf("writes %q", in.Content)
	}
}

func TestChangeWithoutAPartCannotBeAllowed(t *testing.T) {
	b := newBench(t, twoParts("q"))
	b.toggle(0)
	b.toggle(1)
	b.wait(5 * time.Second)
	if !b.allow.Main.Disabled() {
		t.Error("Allow can be pressed")
	}
	b.chord(nil)
	b.want()
}

func TestChangeStandsSideBySideWhereThereIsRoom(t *testing.T) {
	b := newBench(t, twoParts("q"))
	b.window.Resize(fyne.NewSize(WideWidth, 600))
	pagetest.Shot(b.t, b.window, "approve-wide")
	golden.Markup(t, "wide", b.Dialog)
	b.window.Canvas().Refresh(b.Dialog)
	room := func() (one, both bool) {
		var walk func(o fyne.CanvasObject)
		walk = func(o fyne.CanvasObject) {
			c, ok := o.(*fyne.Container)
			if !ok {
				return
			}
			if _, is := c.Layout.(*roomLayout); is {
				one, both = c.Objects[0].Visible(), c.Objects[1].Visible()
			}
			for _, x := range c.Objects {
				walk(x)
			}
		}
		walk(b.body)
		return one, both
	}
	if one, both := room(); one || !both {
		t.Errorf("wide: under each other %v, side by side %v", one, both)
	}
	b.window.Resize(fyne.NewSize(Width, 600))
	if one, both := room(); !one || both {
		t.Errorf("narrow: under each other %v, side by side %v", one, both)
	}
}

func TestNetworkIsGivenForThisCommandOnly(t *testing.T) {
	q := ask("q", "go mod download")
	q.Host.Enforcement = &protocol.Enforcement{Network: "ask", Summary: "contained"}
	b := newBench(t, q)
	b.wait(2 * time.Second)
	b.toggle(0)
	test.Tap(b.allow.Main)
	b.want()
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-network")
	test.Tap(b.allow.Main)
	b.want("q allow once")
	if got := string(b.replies[0].Args); got != `{"command":"go mod download","network":true}` {
		t.Errorf("runs %s", got)
	}
}

func TestFolderIsOpenedForThisCommandOnlyWhenItIsChosen(t *testing.T) {
	q := ask("q", "cp a.txt /srv/other/a.txt && cat ~/.ssh/id")
	q.Preview.Folders = []protocol.FolderAccess{{Path: "/srv/other", Write: true}, {Path: "/home/ann/.ssh", Warning: "it holds keys or tokens: ~/.ssh"}}
	b := newBench(t, q)
	b.wait(2 * time.Second)
	if c := b.checks(); len(c) != 2 || c[0].Checked || c[0].Text != "Let this command write in /srv/other, this once" ||
		c[1].Text != "Let this command read in /home/ann/.ssh, this once" {
		t.Fatalf("check boxes %v", c)
	}
	if markup := test.RenderObjectToMarkup(b.Dialog); !strings.Contains(markup, "it holds keys or tokens") {
		t.Error("the warning is not shown")
	}
	b.toggle(0)
	test.Tap(b.allow.Main) // what it does changed
	b.want()
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-folder")
	if b.allow.Main.Text != "Allow once, with the folder" {
		t.Errorf("the button says %q", b.allow.Main.Text)
	}
	test.Tap(b.allow.Main)
	b.want("q allow once")
	if r := b.replies[0]; len(r.Access) != 1 || r.Access[0] != 0 || r.Args != nil {
		t.Errorf("%+v", r)
	}
}

func TestFileOutsideSaysWhatItOpens(t *testing.T) {
	q := twoParts("q")
	q.Preview.Outside, q.Preview.Folders = true, []protocol.FolderAccess{{Path: "/srv/parser", Write: true}}
	b := newBench(t, q)
	b.wait(2 * time.Second)
	if markup := test.RenderObjectToMarkup(b.Dialog); !strings.Contains(markup, "/srv/parser for this call, to write in it") {
		t.Error("it is not said that the folder is opened")
	}
	test.Tap(b.allow.Main)
	b.want("q allow once")
}

func TestTheSameQuestionIsAnsweredOnceForAll(t *testing.T) {
	b := newBench(t, ask("one", "make"), ask("two", "make"), ask("other", "ls"), ask("three", "make"))
	b.wait(2 * time.Second)
	if c := b.checks(); len(c) != 1 || !strings.Contains(c[0].Text, "the 2 others") {
		t.Fatalf("check boxes %v", c)
	}
	b.toggle(0)
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-alike")
	if b.allow.Main.Text != "Allow all 3 once" || b.deny.Text != "Deny all 3" {
		t.Errorf("the buttons say %q and %q", b.allow.Main.Text, b.deny.Text)
	}
	test.Tap(b.allow.Main)
	b.want("one allow once", "two allow once", "three allow once")
	if len(b.replies) != 1 {
		t.Errorf("%d calls were made", len(b.replies))
	}
	if b.allow.Main.Text != "Allow once" || b.deny.Text != "Deny" {
		t.Errorf("the next question's buttons say %q and %q", b.allow.Main.Text, b.deny.Text)
	}
	if b.Current().ID != "other" {
		t.Errorf("shows %q", b.Current().ID)
	}
}

func TestTheSameQuestionThatComesLaterIsOffered(t *testing.T) {
	b := newBench(t, ask("one", "make"))
	b.wait(2 * time.Second)
	if c := b.checks(); len(c) != 0 {
		t.Fatalf("check boxes %v", c)
	}
	b.Update([]protocol.Approval{ask("one", "make"), ask("two", "make")}, nil)
	test.Tap(b.allow.Main) // what is shown changed
	b.want()
	b.TogetherWithAlike()
	b.wait(2 * time.Second)
	if b.allow.Main.Text != "Allow all 2 once" {
		t.Errorf("the button says %q", b.allow.Main.Text)
	}
	b.Update([]protocol.Approval{ask("one", "make"), ask("two", "make"), ask("three", "make")}, nil)
	test.Tap(b.allow.Main) // the button said 2
	b.want()
	b.wait(2 * time.Second)
	if b.allow.Main.Text != "Allow all 3 once" {
		t.Errorf("the button says %q", b.allow.Main.Text)
	}
	b.Update([]protocol.Approval{ask("one", "make")}, nil)
	b.wait(2 * time.Second)
	if c := b.checks(); len(c) != 0 || b.allow.Main.Text != "Allow once" {
		t.Errorf("check boxes %v, the button says %q", c, b.allow.Main.Text)
	}
	test.Tap(b.allow.Main)
	b.want("one allow once")
}

func TestAllowAllFromTheInboxStillWaitsUntilItWasRead(t *testing.T) {
	b := newBench(t, ask("one", "make"), ask("two", "make"), ask("other", "ls"))
	b.wait(2 * time.Second)
	b.TogetherWithAlike()
	test.Tap(b.allow.Main) // what it answers changed
	b.want()
	b.wait(2 * time.Second)
	test.Tap(b.deny)
	b.want("one deny", "two deny")
	b.TogetherWithAlike() // nothing asks the same
	b.wait(2 * time.Second)
	test.Tap(b.allow.Main)
	b.want("one deny", "two deny", "other allow once")
}

func TestRuleIsPreviewedBeforeItIsMade(t *testing.T) {
	b := newBench(t, offering("q"))
	b.found = protocol.RuleTryResult{Looked: 120, Changed: []protocol.RuleChange{{Call: protocol.JournalEntry{
		CallID: "c1", Tool: "Bash", Node: "server",
		Input: json.RawMessage(`{"command":"make test"}`),
	}, Was: "ask", Now: "allow"}}}
	b.wait(2 * time.Second)
	b.choose("Always in this folder")
	b.want()
	pagetest.Shot(b.t, b.window, "approve-rule")
	golden.Markup(t, "rule", b.Dialog)
	if len(b.tried) != 1 || !strings.Contains(b.tried[0], `"cwd":"/srv/parser/**"`) {
		t.Errorf("tried %v", b.tried)
	}
	if markup := test.RenderObjectToMarkup(b.Dialog); !strings.Contains(markup, "It would also have allowed, of the last 120 calls:") {
		t.Error("what it would also have allowed is not said")
	}
	test.Tap(b.confirm) // it was not read
	b.want()
	b.wait(2 * time.Second)
	b.toggle(1)
	test.Tap(b.confirm) // it changed
	b.want()
	b.wait(2 * time.Second)
	test.Tap(b.confirm)
	b.want("q allow folder")
	if got := b.replies[0]; len(got.Offers) != 2 || got.Until != 0 {
		t.Errorf("makes %+v", got)
	}
}

func TestRuleIsGivenAnEndBeforeItIsMade(t *testing.T) {
	b := newBench(t, offering("q"))
	b.wait(2 * time.Second)
	b.choose("Always on this machine")
	b.wait(2 * time.Second)
	for _, item := range b.ends() {
		if item.Label == "For 30 days" {
			item.Action()
		}
	}
	test.Tap(b.confirm) // what it makes changed
	b.want()
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-rule-end")
	until := time.Unix(1000, 0).Add(4*time.Second).AddDate(0, 0, 30)
	if markup := test.RenderObjectToMarkup(b.Dialog); !strings.Contains(markup, "it ends on "+until.Format("2 January 2006 15:04")) {
		t.Error("the end is not shown")
	}
	test.Tap(b.confirm)
	b.want("q allow node")
	if got := b.replies[0].Until; got != until.UnixMilli() {
		t.Errorf("it ends at %v, not %v", time.UnixMilli(got), until)
	}
}

func TestRuleThatLetsNothingThroughIsNotMade(t *testing.T) {
	b := newBench(t, offering("q"))
	b.wait(2 * time.Second)
	b.choose("Always, everywhere")
	b.toggle(0)
	b.wait(2 * time.Second)
	test.Tap(b.confirm)
	b.want()
	b.window.Canvas().Focus(b.leave)
	b.press(fyne.KeyEscape)
	if b.step != asking || !b.foot.Visible() {
		t.Error("Escape does not lead back")
	}
	b.want()
}

func TestPreviewThatFailsSaysSo(t *testing.T) {
	b := newBench(t, offering("q"))
	b.h.Try = func(_ json.RawMessage, done func(protocol.RuleTryResult, error)) {
		done(protocol.RuleTryResult{}, errors.New("no journal"))
	}
	b.wait(2 * time.Second)
	b.choose("Always on this machine")
	if markup := test.RenderObjectToMarkup(b.Dialog); !strings.Contains(markup, "no journal") {
		t.Error("the failure is not said")
	}
}

func TestCommandIsChangedBeforeItRuns(t *testing.T) {
	b := newBench(t, ask("q", "rm -rf build"))
	b.wait(2 * time.Second)
	test.Tap(b.modify)
	pagetest.Shot(b.t, b.window, "approve-edit")
	golden.Markup(t, "edit", b.Dialog)
	b.editor.SetText("rm -r build/cache")
	b.editor.TypedRune('x')
	b.wait(200 * time.Millisecond)
	test.Tap(b.confirm) // a key came just before
	b.want()
	b.press(fyne.KeyReturn) // a new line, no answer
	b.want()
	b.editor.SetText("rm -r build/cache")
	b.wait(2 * time.Second)
	test.Tap(b.confirm)
	b.want("q allow once")
	if got := string(b.replies[0].Args); got != `{"command":"rm -r build/cache"}` {
		t.Errorf("runs %s", got)
	}
}

func TestEmptyCommandDoesNotRun(t *testing.T) {
	b := newBench(t, ask("q", "ls"))
	b.wait(time.Second)
	test.Tap(b.modify)
	b.editor.SetText("  ")
	b.wait(2 * time.Second)
	test.Tap(b.confirm)
	b.want()
	if !strings.Contains(b.note.Text, "there is no command") {
		t.Errorf("says %q", b.note.Text)
	}
}

func TestNotNowAnswersNothing(t *testing.T) {
	b := newBench(t, ask("one", "make"), ask("two", "ls"))
	b.wait(time.Second)
	test.Tap(b.later)
	b.want("one later")
	if b.Current().ID != "two" {
		t.Errorf("shows %q", b.Current().ID)
	}
}

func TestWhatIsNotConfinedSaysSo(t *testing.T) {
	q := ask("q", "make")
	q.Sandbox = "not enforced on this machine"
	b := newBench(t, q)
	pagetest.Shot(b.t, b.window, "approve-unconfined")
	if markup := test.RenderObjectToMarkup(b.Dialog); !strings.Contains(markup, "not enforced on this machine: the command may do whatever you may") {
		t.Error("it is not said")
	}
}

func TestDialogInTheDark(t *testing.T) {
	b := newBench(t, risky("q"))
	fyne.CurrentApp().Settings().SetTheme(look.New(look.Dark, 1))
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-dark")
	b.Update([]protocol.Approval{twoParts("p")}, nil)
	b.window.Resize(fyne.NewSize(WideWidth, 600))
	pagetest.Shot(b.t, b.window, "approve-dark-wide")
}

// robot does to a dialog what somebody does who never looks: keys and clicks anywhere, at once and without a pause.
func robot(b *bench, rnd *rand.Rand) {
	c := b.window.Canvas()
	keys := []fyne.KeyName{
		fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace, fyne.KeyTab, fyne.KeyDown, fyne.KeyUp, fyne.KeyLeft, fyne.KeyRight, fyne.KeyA, fyne.KeyY,
		fyne.KeyHome, fyne.KeyEnd, fyne.KeyPageDown, fyne.KeyBackspace, fyne.KeyDelete, desktop.KeyShiftLeft,
	}
	came := b.now
	for range 1 + rnd.IntN(12) {
		switch rnd.IntN(6) {
		case 0, 1, 2:
			key := keys[rnd.IntN(len(keys))]
			if key == fyne.KeyTab {
				c.(interface{ FocusNext() }).FocusNext()
				b.key(key)
				break
			}
			if c.Focused() == nil {
				b.typed(&fyne.KeyEvent{Name: key})
			}
			b.press(key)
		case 3:
			for _, r := range "yes, allow it\n" {
				if f := c.Focused(); f != nil {
					f.TypedRune(r)
				}
			}
			b.key(fyne.KeyA)
		case 4:
			b.key(fyne.KeyA) // in the midst of typing
			b.chord(nil)
		case 5:
			if b.now.Sub(came) > 900*time.Millisecond {
				b.Activated() // it comes from another window
			}
			at := fyne.NewPos(rnd.Float32()*c.Size().Width, rnd.Float32()*c.Size().Height)
			if rnd.IntN(2) == 0 { // most buttons are down there
				at.Y = c.Size().Height - 30
			}
			test.TapCanvas(c, at)
		}
		b.now = b.now.Add(time.Duration(rnd.IntN(380)) * time.Millisecond)
		b.Tick(b.now)
	}
}

// Of 10,000 dialogs, which FAIRLEAD_ROBOT=1 asks for, and of the 1,000 of every day none may be allowed. Every dialog is a new question; the window stays, as it does for a person. It shows that no
// burst of keys with pauses shorter than 400 ms allows anything, whatever has the focus, and no click in the first 900 ms or one that brings the
// window to the front, wherever it goes.
func TestRobotNeverAllows(t *testing.T) {
	b := newBench(t, ask("first", "make"))
	rnd := rand.New(rand.NewPCG(7, 7))
	kinds := []func(string) protocol.Approval{func(id string) protocol.Approval { return ask(id, "make") }, risky, offering, twoParts}
	dialogs := 10_000
	if os.Getenv("FAIRLEAD_ROBOT") == "" {
		dialogs = 1_000 // a minute otherwise
	}
	for i := range dialogs {
		q := kinds[i%len(kinds)](string(rune('a'+i%26)) + protocol.NewID())
		b.Update([]protocol.Approval{q}, nil)
		robot(b, rnd)
		for _, r := range b.replies {
			if r.Decision == protocol.DecisionAllow {
				t.Fatalf("dialog %d was allowed: %+v", i, r)
			}
		}
		if len(b.window.Canvas().Overlays().List()) > 0 {
			b.window.Canvas().Overlays().Remove(b.window.Canvas().Overlays().Top())
		}
		b.replies, b.answers, b.told, b.tried = nil, nil, nil, nil
	}
}
