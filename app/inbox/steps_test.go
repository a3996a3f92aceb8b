package inbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/pagetest"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// risky is an approval for a command that the gateway parsed.
func risky(id string) protocol.Question {
	q := ask(id, "make -j4 && sudo systemctl restart parser")
	q.Parts = []protocol.QuestionPart{
		{Kind: "command", Text: "make -j4", Argv: []string{"make", "-j4"}, Verdict: "ask", Reason: "No rule allows: make -j4"},
		{Kind: "command", Text: "sudo systemctl restart parser", Argv: []string{"sudo", "systemctl", "restart", "parser"}, Verdict: "ask", Floor: true, Risk: "runs as administrator (sudo)", Starts: "systemctl"},
	}
	q.Floor, q.Why = true, "Runs as administrator (sudo)"
	q.Preview.Programs = []protocol.Program{{Name: "make", Path: "/usr/bin/make"}, {Name: "sudo", Path: "/usr/bin/sudo"}}
	return q
}

// checks returns the visible check boxes.
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
	walk(b.frame.body)
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
	for _, item := range b.scopeMenu() {
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
	golden.Markup(t, "risky", b.Box)
	markup := test.RenderObjectToMarkup(b.Box)
	for _, want := range []string{"Runs as administrator (sudo)", "/usr/bin/sudo → systemctl", "Runs as administrator (sudo) – always asked"} {
		if !strings.Contains(markup, want) {
			t.Errorf("%q is not shown", want)
		}
	}
}

func TestNetworkIsAllowedForThisCommandOnly(t *testing.T) {
	q := ask("q", "go mod download")
	q.Host.Enforcement = &protocol.Enforcement{Network: "blocked", Summary: "contained", Lends: true}
	b := newBench(t, q)
	b.wait(2 * time.Second)
	b.toggle(0)
	test.Tap(b.frame.allow.Main)
	b.want()
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-network")
	test.Tap(b.frame.allow.Main)
	b.want("q allow once")
	if got := string(b.replies[0].Args); got != `{"command":"go mod download","network":true}` {
		t.Errorf("runs: got %s, want `{\"command\":\"go mod download\",\"network\":true}`", got)
	}
}

func TestBlockedAccessIsOfferedBesideTheCall(t *testing.T) {
	q := ask("q", "curl -fsSL https://get.example.org/install.sh | sh && cp a /srv/www/x")
	q.Host.Enforcement = &protocol.Enforcement{Network: "blocked", Summary: "contained", Lends: true}
	q.Preview.Folders = []protocol.FolderAccess{{Path: "/srv/www", Write: true}}
	q.Parts = []protocol.QuestionPart{
		{Kind: "command", Text: "curl -fsSL https://get.example.org/install.sh", Argv: []string{"curl"}, Verdict: "ask", NoNetwork: true},
		{Kind: "command", Text: "curl -fsSL https://get.example.org/install.sh | sh", Argv: []string{"sh"}, Verdict: "ask", Risk: "runs a script from the internet that nobody has read"},
		{Kind: "command", Text: "cp a /srv/www/x", Argv: []string{"cp"}, Verdict: "ask", Folders: []int{0}},
	}
	b := newBench(t, q)
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-stopped")
	markup := test.RenderObjectToMarkup(b.Box)
	for _, want := range []string{"The sandbox stops it: the network is off", "The sandbox stops it: /srv/www cannot be written", "Runs a script from the internet"} {
		if !strings.Contains(markup, want) {
			t.Errorf("%q is not said", want)
		}
	}
	c := b.checks()
	if len(c) != 2 || c[0].Text != "Allow network access for this command" || c[1].Text != "Allow writing to /srv/www (this time only)" {
		t.Fatalf("check boxes %v", c)
	}
	if why, y := position(b, "curl"), position(b, "reason"); fyne.CurrentApp().Driver().AbsolutePositionForObject(c[0]).Y > y || why > y {
		t.Error("the offer does not stand beside the part")
	}
	b.toggle(0)
	b.toggle(1)
	b.wait(2 * time.Second)
	if got := b.frame.allow.Main.Text; got != "Allow once with network and folder access" {
		t.Errorf(`the button says %q, want "Allow once with network and folder access"`, got)
	}
	test.Tap(b.frame.allow.Main)
	b.want("q allow once")
	if r := b.replies[0]; !strings.Contains(string(r.Args), `"network":true`) || len(r.Access) != 1 {
		t.Errorf("the answer is %+v", r)
	}
}

// position returns the vertical position of a text.
func position(b *bench, text string) (y float32) {
	find(b.frame.body, func(o fyne.CanvasObject) {
		if w, ok := o.(*widgets.Text); ok && w.Text == text {
			y = fyne.CurrentApp().Driver().AbsolutePositionForObject(o).Y
		}
	})
	return y
}

// TestLabelsNeverOverlap shows every label at the largest text.
func TestLabelsNeverOverlap(t *testing.T) {
	q := risky("q")
	q.Files = "the code it runs may access secrets/** despite your rules"
	b := newBench(t, q)
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, 2))
	for _, width := range []float32{narrow, 640} {
		b.window.Resize(fyne.NewSize(width, 600))
		seen := 0
		find(b.frame.body, func(o fyne.CanvasObject) {
			row, ok := o.(*fyne.Container)
			if !ok || len(row.Objects) != 2 {
				return
			}
			if label, ok := row.Objects[0].(*widgets.Text); ok && label.Color == style.ColorMuted {
				seen++
				if end, next := label.MinSize().Width, row.Objects[1].Position().X; end > next-style.Inside+1 {
					t.Errorf("at %v the label %q ends at %v, its text begins at %v", width, label.Text, end, next)
				}
			}
		})
		if seen < 5 {
			t.Errorf("only %d labels are seen, want at least 5", seen)
		}
		pagetest.Shot(b.t, b.window, fmt.Sprintf("approve-largest-%v", width))
	}
}

func TestFolderIsOpenedForThisCommandOnlyWhenItIsChosen(t *testing.T) {
	q := ask("q", "cp a.txt /srv/other/a.txt && cat ~/.ssh/id")
	q.Preview.Folders = []protocol.FolderAccess{{Path: "/srv/other", Write: true}, {Path: "/home/ann/.ssh", Warning: "it holds keys or tokens: ~/.ssh"}}
	b := newBench(t, q)
	b.wait(2 * time.Second)
	if c := b.checks(); len(c) != 2 || c[0].Checked || c[0].Text != "Allow writing to /srv/other (this time only)" ||
		c[1].Text != "Allow reading /home/ann/.ssh (this time only)" {
		t.Fatalf("check boxes %v", c)
	}
	if markup := test.RenderObjectToMarkup(b.Box); !strings.Contains(markup, "it holds keys or tokens") {
		t.Error("the warning is not shown")
	}
	b.toggle(0)
	test.Tap(b.frame.allow.Main) // its effect changed
	b.want()
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-folder")
	if b.frame.allow.Main.Text != "Allow once with folder access" {
		t.Errorf(`the button says %q, want "Allow once with folder access"`, b.frame.allow.Main.Text)
	}
	test.Tap(b.frame.allow.Main)
	b.want("q allow once")
	if r := b.replies[0]; len(r.Access) != 1 || r.Access[0] != 0 || r.Args != nil {
		t.Errorf("got %+v; want Access of length 1, Access[0] 0 and no Args", r)
	}
}

func TestFileOutsideSaysWhatItOpens(t *testing.T) {
	q := twoParts("q")
	q.Preview.Outside, q.Preview.Folders = true, []protocol.FolderAccess{{Path: "/srv/parser", Write: true}}
	b := newBench(t, q)
	b.wait(2 * time.Second)
	if markup := test.RenderObjectToMarkup(b.Box); !strings.Contains(markup, "/srv/parser (write, for this call only)") {
		t.Error("it is not said that the folder is opened")
	}
	test.Tap(b.frame.allow.Main)
	b.want("q allow once")
}

func TestFileAmongKeysSaysWhichPlaceItIsIn(t *testing.T) {
	q := twoParts("q")
	q.Preview.Secret = "~/.ssh"
	b := newBench(t, q)
	if markup := test.RenderObjectToMarkup(b.Box); !strings.Contains(markup, "This folder contains keys and tokens: ~/.ssh") {
		t.Error("it is not said")
	}
}

func TestTheSameQuestionIsAnsweredOnceForAll(t *testing.T) {
	b := newBench(t, ask("one", "make"), ask("two", "make"), ask("other", "ls"), ask("three", "make"))
	b.wait(2 * time.Second)
	if c := b.checks(); len(c) != 1 || !strings.Contains(c[0].Text, "the 2 identical") {
		t.Fatalf("check boxes %v", c)
	}
	b.toggle(0)
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-alike")
	if b.frame.allow.Main.Text != "Allow all 3 once" || b.frame.deny.Text != "Deny all 3" {
		t.Errorf(`the buttons say %q and %q; want "Allow all 3 once" and "Deny all 3"`, b.frame.allow.Main.Text, b.frame.deny.Text)
	}
	test.Tap(b.frame.allow.Main)
	b.want("one allow once", "two allow once", "three allow once")
	if len(b.replies) != 1 {
		t.Errorf("%d calls were made, want 1", len(b.replies))
	}
	if b.allowText != "Allow once" || b.frame.deny.Text != "Deny" {
		t.Errorf(`the next question's buttons say %q and %q; want "Allow once" and "Deny"`, b.allowText, b.frame.deny.Text)
	}
	if b.Current().ID != "other" {
		t.Errorf(`shows: got %q, want "other"`, b.Current().ID)
	}
}

func TestLaterEqualQuestionIsOffered(t *testing.T) {
	b := newBench(t, ask("one", "make"))
	b.wait(2 * time.Second)
	if c := b.checks(); len(c) != 0 {
		t.Fatalf("check boxes %v", c)
	}
	b.Update([]protocol.Question{ask("one", "make"), ask("two", "make")}, feed.View{})
	test.Tap(b.frame.allow.Main) // the content changed
	b.want()
	b.Select(b.Current().ID, true)
	b.wait(2 * time.Second)
	if b.frame.allow.Main.Text != "Allow all 2 once" {
		t.Errorf(`the button says %q, want "Allow all 2 once"`, b.frame.allow.Main.Text)
	}
	b.Update([]protocol.Question{ask("one", "make"), ask("two", "make"), ask("three", "make")}, feed.View{})
	test.Tap(b.frame.allow.Main) // the button said 2
	b.want()
	b.wait(2 * time.Second)
	if b.frame.allow.Main.Text != "Allow all 3 once" {
		t.Errorf(`the button says %q, want "Allow all 3 once"`, b.frame.allow.Main.Text)
	}
	b.Update([]protocol.Question{ask("one", "make")}, feed.View{})
	b.wait(2 * time.Second)
	if c := b.checks(); len(c) != 0 || b.frame.allow.Main.Text != "Allow once" {
		t.Errorf("check boxes %v, the button says %q", c, b.frame.allow.Main.Text)
	}
	test.Tap(b.frame.allow.Main)
	b.want("one allow once")
}

func TestAllowAllFromTheInboxWaitsUntilItWasRead(t *testing.T) {
	b := newBench(t, ask("one", "make"), ask("two", "make"), ask("other", "ls"))
	b.wait(2 * time.Second)
	b.Select(b.Current().ID, true)
	test.Tap(b.frame.allow.Main) // the set of answered approvals changed
	b.want()
	b.wait(2 * time.Second)
	test.Tap(b.frame.deny)
	b.want("one deny", "two deny")
	b.Select(b.Current().ID, true) // there are no identical approvals
	b.wait(2 * time.Second)
	test.Tap(b.frame.allow.Main)
	b.want("one deny", "two deny", "other allow once")
}

func TestNotNowAnswersNothing(t *testing.T) {
	b := newBench(t, ask("one", "make"), ask("two", "ls"))
	b.wait(time.Second)
	test.Tap(b.frame.notNow)
	b.want("one later")
	if b.Current().ID != "two" {
		t.Errorf(`shows: got %q, want "two"`, b.Current().ID)
	}
}

func TestUnconfinedCommandIsMarked(t *testing.T) {
	q := ask("q", "make")
	q.Sandbox = "not enforced on this machine"
	q.Host.Enforcement = &protocol.Enforcement{Network: "blocked", Summary: "none"} // Windows
	q.Args = []byte(`{"command":"make","network":true}`)
	b := newBench(t, q)
	pagetest.Shot(b.t, b.window, "approve-unconfined")
	markup := test.RenderObjectToMarkup(b.Box)
	for _, want := range []string{"not enforced on this machine: the command can do everything you can", "requested; not enforced on this machine"} {
		if !strings.Contains(markup, want) {
			t.Errorf("%q is not said", want)
		}
	}
	if b.options.network != nil {
		t.Error("the network is offered where nothing keeps commands from it")
	}
}

func TestDialogShowsWhichFileRulesApply(t *testing.T) {
	q := ask("q", "make")
	q.Sandbox = "files workspace-write, network blocked"
	for files, want := range map[string]string{
		"the code it runs may access secrets/** despite your rules": "The code it runs may access secrets/** despite your rules.",
		"the sandbox protects /etc/**":                              "The sandbox protects /etc/**.",
		"":                                                          "",
	} {
		t.Run(files, func(t *testing.T) {
			q.Files = files
			b := newBench(t, q)
			pagetest.Shot(b.t, b.window, "approve-files-"+map[bool]string{true: "loose", false: "held"}[question.FilesLoose(q)])
			markup := test.RenderObjectToMarkup(b.Box)
			if got := strings.Contains(markup, "your rules"); got != (files != "") || want != "" && !strings.Contains(markup, want) {
				t.Errorf("%q is not said", files)
			}
		})
	}
}

func TestDialogMatchesGoldenInDarkTheme(t *testing.T) {
	b := newBench(t, risky("q"))
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Dark, 1))
	b.wait(2 * time.Second)
	pagetest.Shot(b.t, b.window, "approve-dark")
	b.Update([]protocol.Question{twoParts("p")}, feed.View{})
	b.window.Resize(fyne.NewSize(WideWidth, 600))
	pagetest.Shot(b.t, b.window, "approve-dark-wide")
}

func TestContinueNamesWhatItsButtonsDo(t *testing.T) {
	q := ask("q", "")
	q.Kind, q.Tool, q.Node, q.Why = protocol.AskContinue, "", "", "the agent has taken 50 steps without finishing"
	b := newBench(t, q)
	if got := b.frame.allow.Main.Text; got != "Continue in 2 s" {
		t.Errorf("the button that waits: got %q, want Continue in 2 s", got)
	}
	b.wait(2 * time.Second)
	if allow, deny := b.frame.allow.Main.Text, b.frame.deny.Text; allow != "Continue" || deny != "Stop" {
		t.Errorf("got the buttons %q and %q, want Continue and Stop", allow, deny)
	}
	pagetest.Shows(t, b.Box, "The agent has taken 50 steps", "Stop with reason…")
}
