package inbox

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// questionsOfEveryKind returns a question of each kind, and one of a newer gateway.
func questionsOfEveryKind() []protocol.Question {
	widen := wantsToPair("widen")
	widen.Kind, widen.Pairing.Words, widen.Pairing.Wider, widen.ExpiresAt = protocol.AskWiden, nil, []string{"the tool Write"}, 0
	return []protocol.Question{
		ask("call", "make"), wantsToPair("pair"), widen, consent(), inputQuestion(),
		{ID: "tools", Kind: protocol.AskTools, Hash: "h", Tools: &protocol.ToolsSubject{Server: "github", Tools: []protocol.ServerTool{{Name: "close_issue", Description: "Closes an issue."}}}},
		{ID: "sender", Kind: protocol.AskSender, Hash: "h", Sender: &protocol.SenderSubject{PendingPair: protocol.PendingPair{Channel: "xmpp", SenderID: "ann@town.test", FirstMessage: "May I?"}}},
		wantsToVisit(),
		{ID: "new", Kind: "teleport", Hash: "h"},
	}
}

// TestEveryKindIsShownAndAnswered shows each kind in the dialog, allows it, and closes the window
// instead.
func TestEveryKindIsShownAndAnswered(t *testing.T) {
	for _, c := range []struct{ id, shown, allow, answered, closed string }{
		{"call", "make", "Allow once", "call allow once", "call deny"},
		{"pair", "cobalt-otter", "Allow", "pair allow", "pair later"},
		{"widen", "the tool Write", "Allow", "widen allow", "widen later"},
		{"c", "K7WQ", "Allow", "c allow", "c later"},
		{"q", "How shall the new repository be set up?", "Send", "", "q dismiss"}, // a field is empty
		{"tools", "Closes an issue.", "Accept", "tools allow", "tools later"},
		{"sender", "May I?", "Allow", "sender allow", "sender later"},
		{"visit", "Nobody has checked", "Allow", "visit allow", "visit later"},
		{"new", "Update Fairlead", "", "", "new later"},
	} {
		t.Run(c.id, func(t *testing.T) {
			questions := feed.QuestionList(questionsOfEveryKind())
			q, _ := questions.Find(protocol.QuestionID(c.id))
			b := newBench(t, q)
			pagetest.Shot(t, b.window, "kind-"+c.id)
			pagetest.Shows(t, b.Box, c.shown)
			b.keys.allow(nil)
			b.want() // too early
			b.frame.scroll.ScrollToBottom()
			b.wait(3 * time.Second)
			if got := b.frame.allow.Main.Text; c.allow != "" && got != c.allow {
				t.Errorf("the button says %q, want %q", got, c.allow)
			}
			b.keys.allow(nil)
			if got := strings.Join(b.answers, ", "); got != c.answered {
				t.Errorf("allowed: got %q, want %q", got, c.answered)
			}
			b = newBench(t, q)
			b.wait(time.Second)
			b.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
			b.want(c.closed)
		})
	}
}

// TestEnterNeverAllowsAnyKind presses the keys that press a button on the button that allows.
func TestEnterNeverAllowsAnyKind(t *testing.T) {
	for _, q := range questionsOfEveryKind() {
		b := newBench(t, q)
		b.frame.scroll.ScrollToBottom()
		b.wait(3 * time.Second)
		b.window.Canvas().Focus(b.frame.allow.Main)
		for _, k := range []fyne.KeyName{fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace} {
			b.press(k)
			b.wait(time.Second)
		}
		if got := strings.Join(b.answers, ", "); strings.Contains(got, "allow") {
			t.Errorf("%s: got %q, want no allow", q.Kind, got)
		}
	}
}

// TestQuestionWithALimitComesBeforeOneWithout shows a machine that offers more, for which nobody
// waits, and then a device that waits.
func TestQuestionWithALimitComesBeforeOneWithout(t *testing.T) {
	list := questionsOfEveryKind()
	pair, widen, call := list[1], list[2], list[0]
	b := newBench(t)
	b.Update([]protocol.Question{widen}, feed.View{})
	b.Update([]protocol.Question{pair, widen}, feed.View{})
	if got := b.Current().ID; got != "pair" {
		t.Errorf("shown: got %s, want pair", got)
	}
	b = newBench(t)
	b.Update([]protocol.Question{call}, feed.View{})
	b.Update([]protocol.Question{pair, call}, feed.View{})
	if got := b.Current().ID; got != "call" {
		t.Errorf("shown: got %s, want call: the person may be about to answer it", got)
	}
}

// TestPageHasAllKindsInOneOrder has a call between two others, and one that was postponed.
func TestPageHasAllKindsInOneOrder(t *testing.T) {
	in, w := newInboxBench(t)
	in.clock = pagetest.Clock
	list := questionsOfEveryKind()
	list[0].ExpiresAt, list[1].Later = atNoon(30*time.Second), atNoon(time.Hour)
	protocol.SortQuestions(list)
	v := feed.View{Questions: feed.Questions{Pending: list}, Machines: twoMachines()}
	in.Update(v)
	w.Resize(fyne.NewSize(880, 1900))
	pagetest.Shot(t, w, "inbox-kinds")
	markup, at := test.RenderObjectToMarkup(in.Box), 0
	for _, want := range []string{"Run make on server", "Connect “Claude Code”?", "asks you a question", "Allow more on", "postponed until 13:00"} {
		i := strings.Index(markup[at:], want)
		if i < 0 {
			t.Fatalf("page: got no %q after the others:\n%s", want, markup[at:])
		}
		at += i
	}
	in.Tick(pagetest.Noon.Add(3 * time.Second))
	test.Tap(pagetest.Button(t, in.Box, "Accept"))
	if got := strings.Join(in.Did, ", "); got != "allow tools" {
		t.Errorf("did %q, want the answer", got)
	}
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Dark, 1))
	pagetest.Shot(t, w, "inbox-kinds-dark")
	w.Resize(fyne.NewSize(narrow, 1900))
	pagetest.Shot(t, w, "inbox-kinds-narrow")
	if got := in.Box.MinSize().Width; got > narrow {
		t.Errorf("narrow page: got a width of %v, want at most %v", got, narrow)
	}
}

// TestCardThatChangesIsSeenAgain changes the tools of a question while its card can be answered.
func TestCardThatChangesIsSeenAgain(t *testing.T) {
	in, _ := newInboxBench(t)
	in.clock = pagetest.Clock
	q := questionsOfEveryKind()[5]
	in.Update(feed.View{Questions: feed.Questions{Pending: []protocol.Question{q}}})
	in.Tick(pagetest.Noon.Add(3 * time.Second))
	pagetest.Button(t, in.Box, "Accept")
	q.Hash, q.Tools = "other", &protocol.ToolsSubject{Server: "github", Tools: []protocol.ServerTool{{Name: "close_issue", Description: "Deletes it."}}}
	in.Update(feed.View{Questions: feed.Questions{Pending: []protocol.Question{q}}})
	pagetest.Shows(t, in.Box, "Deletes it.", "Accept in 2 s")
}
