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
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// pageBench is the page without a gateway.
type pageBench struct {
	*Page
	pagetest.Host
}

// Answer implements [answerer].
func (b *pageBench) Answer(list []protocol.Question, p protocol.QuestionAnswerParams) {
	b.note(p.Decision, list)
}

// Snooze implements [answerer].
func (b *pageBench) Snooze(list ...protocol.Question) { b.note("later", list) }

// Unsnooze implements [answerer].
func (b *pageBench) Unsnooze(list ...protocol.Question) { b.note("wake", list) }

// MarkShown implements [answerer].
func (b *pageBench) MarkShown(protocol.QuestionID, string) {}

func (b *pageBench) note(what string, list []protocol.Question) {
	for _, q := range list {
		b.Did = append(b.Did, what+" "+string(q.ID))
	}
}

func newInboxBench(t *testing.T) (in *pageBench, w fyne.Window) {
	a := test.NewTempApp(t)
	a.Settings().SetTheme(style.New(style.Light, 1))
	in = &pageBench{}
	in.Page = newPage(host.Env{Host: &in.Host, Feed: feed.New(), Machines: new(style.Machines)})
	in.answerer = in
	in.clock = func() time.Time { return time.Unix(1000, 0) }
	w = pagetest.Window(t, in.Box, 880, 420)
	return in, w
}

func inboxView() feed.View {
	v := feed.View{Questions: feed.Questions{Pending: []protocol.Question{ask("a", "make"), ask("b", "make"), risky("c"), twoParts("d")}}}
	v.Questions.Pending[3].Later = 1_300_000
	for i := range v.Questions.Pending {
		v.Questions.Pending[i].ExpiresAt = 1_290_000
	}
	return v
}

func TestInboxMatchesGolden(t *testing.T) {
	in, w := newInboxBench(t)
	in.Update(feed.View{})
	golden.Markup(t, "inbox-empty", in.Box)
	in.Update(inboxView())
	pagetest.Shot(t, w, "inbox")
	markup := test.RenderObjectToMarkup(in.Box)
	for _, want := range []string{"2 × Run make on server", "Deny all 2", "Allow all 2…", "4:50 left", "postponed until "} {
		if !strings.Contains(markup, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Dark, 1))
	pagetest.Shot(t, w, "inbox-dark")
}

func TestButtonsOfTheInboxStandInColumns(t *testing.T) {
	in, _ := newInboxBench(t)
	in.Update(inboxView())
	place := fyne.CurrentApp().Driver().AbsolutePositionForObject
	first := in.rows[0]
	for _, r := range in.rows[1:in.shown] {
		if place(r.deny).X != place(first.deny).X || place(r.later).X != place(first.later).X {
			t.Errorf("Deny at %v and Not now at %v, want %v and %v", place(r.deny), place(r.later), place(first.deny), place(first.later))
		}
	}
}

// TestInboxFitsANarrowWindow shows it in the narrowest window with the largest text.
func TestInboxFitsANarrowWindow(t *testing.T) {
	in, w := newInboxBench(t)
	fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, 2))
	in.Update(inboxView())
	w.Resize(fyne.NewSize(narrow, 560))
	if got := in.Box.MinSize().Width; got > narrow {
		t.Errorf("it needs %v of width, want at most %v", got, narrow)
	}
	pagetest.Shot(t, w, "inbox-narrow-largest")
	row := in.rows[0]
	last := fyne.CurrentApp().Driver().AbsolutePositionForObject(row.later)
	if end := last.X + row.later.Size().Width; end > narrow {
		t.Errorf("its last button ends at %v, want at most %v", end, narrow)
	}
	if next := fyne.CurrentApp().Driver().AbsolutePositionForObject(in.rows[1].box); last.Y+row.later.Size().Height > next.Y {
		t.Error("its last button overlaps the next question")
	}
}

func TestALongCommandInTheInboxIsCutOnceAndKeepsItsMachine(t *testing.T) {
	in, w := newInboxBench(t)
	in.Update(feed.View{Questions: feed.Questions{Pending: []protocol.Question{ask("a", "echo one two three four five six seven eight nine ten and all the rest of it")}}})
	for width, want := range map[float32]string{300: "… on server<", 1400: "all the rest of it on server<"} {
		w.Resize(fyne.NewSize(width, 420))
		markup := test.RenderObjectToMarkup(in.Box)
		if !strings.Contains(markup, want) || strings.Contains(markup, "……") {
			t.Errorf(`%g wide: %s; want %v in it and no "……"`, width, markup, want)
		}
	}
}

func TestAskerTextNamesTheBuiltInOperator(t *testing.T) {
	by := protocol.AskedBy{Kind: "chat", Name: "Main chat", Model: feed.OperatorModel}
	hosted := protocol.AskedBy{Kind: "chat", Model: "openrouter/anthropic/claude"}
	if got := question.AskerText(hosted); got != "chat, model anthropic/claude" {
		t.Errorf("got %q, want %q", got, "chat, model anthropic/claude")
	}
	if got, want := question.AskerText(by), "chat “Main chat”, the built-in operator"; got != want {
		t.Errorf("AskerText: got %q, want %q", got, want)
	}
}

func TestAQuestionOfAChatShowsTheTitleThatTheChatHasNow(t *testing.T) {
	var v feed.View
	v.Sessions.List = []protocol.SessionEntry{{SessionKey: "titled", Title: "Photos"}, {SessionKey: "new"}}
	for _, c := range []struct {
		by   protocol.AskedBy
		key  protocol.SessionKey
		want string
	}{
		{protocol.AskedBy{Kind: "chat"}, "titled", "chat “Photos”"},
		{protocol.AskedBy{Kind: "chat", Name: "Old title"}, "titled", "chat “Photos”"},
		{protocol.AskedBy{Kind: "chat"}, "new", "chat “New chat”"},
		{protocol.AskedBy{Kind: "chat", Name: "Its title"}, "deleted", "chat “Its title”"},
		{protocol.AskedBy{Kind: "schedule", Name: "Backups"}, "titled", "schedule “Backups”"},
	} {
		if got := question.Asker(v, c.by, c.key); got != c.want {
			t.Errorf("%+v in %s: got %s, want %s", c.by, c.key, got, c.want)
		}
	}
}

func TestInboxShowsTheTimeLeftWhoeverHasSeenTheQuestion(t *testing.T) {
	in, _ := newInboxBench(t)
	v := inboxView()
	v.Questions.Pending[0].Unseen, v.Questions.Pending[2].Unseen, v.Questions.Pending[2].Shown = 1, 1, true
	in.Update(v)
	if n := strings.Count(test.RenderObjectToMarkup(in.Box), ">4:50 left<"); n != 2 {
		t.Errorf("the time left is shown %d times", n)
	}
}

func TestInboxIsUsedByKeyboard(t *testing.T) {
	in, w := newInboxBench(t)
	in.Update(inboxView())
	in.Focus(w.Canvas())
	for _, k := range []fyne.KeyName{fyne.KeyReturn, fyne.KeyDelete, fyne.KeyDown, fyne.KeyL, fyne.KeyDown, fyne.KeyL, fyne.KeyDown, fyne.KeyUp, fyne.KeyUp, fyne.KeyReturn} {
		w.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: k})
	}
	if got := fmt.Sprint(in.Did); got != "[identical a deny a deny b later c wake d identical a]" {
		t.Errorf(`did: got %s, want "[identical a deny a deny b later c wake d identical a]"`, got)
	}
}

func TestInboxSelectionFollowsTheQuestions(t *testing.T) {
	in, w := newInboxBench(t)
	v := inboxView()
	in.Update(v)
	in.Focus(w.Canvas())
	press := func(k fyne.KeyName) { w.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: k}) }
	press(fyne.KeyDown)
	press(fyne.KeyDown)
	v.Questions.Pending = v.Questions.Pending[:3] // the last one was answered elsewhere
	in.Update(v)
	press(fyne.KeyReturn)
	if got := fmt.Sprint(in.Did); got != "[question c]" {
		t.Errorf(`did: got %s, want "[question c]"`, got)
	}
	in.Update(feed.View{})
	if w.Canvas().Focused() != nil {
		t.Error("a question that is gone has the keyboard")
	}
	v = feed.View{}
	for i := range 40 {
		v.Questions.Pending = append(v.Questions.Pending, ask(fmt.Sprint(i), fmt.Sprintf("make %d", i)))
	}
	in.Update(v)
	in.Focus(w.Canvas())
	for range 39 {
		press(fyne.KeyDown)
	}
	if row := in.rows[39].box; row.Position().Y+row.Size().Height > in.scroll.Offset.Y+in.scroll.Size().Height+1 {
		t.Errorf("the question with the keyboard is not in view: it is at %v, %v is scrolled to", row.Position(), in.scroll.Offset)
	}
	for range 39 {
		press(fyne.KeyUp)
	}
	if in.scroll.Offset.Y != 0 {
		t.Errorf("the first question is not in view: %v", in.scroll.Offset)
	}
}

func TestInboxOfManyQuestions(t *testing.T) {
	in, _ := newInboxBench(t)
	var v feed.View
	for i := range 250 {
		v.Questions.Pending = append(v.Questions.Pending, ask(fmt.Sprint(i), fmt.Sprintf("make %d %s", i, strings.Repeat("long ", 40))))
	}
	in.Update(v)
	if in.shown != maxListed || !strings.HasPrefix(in.more.Text, "150 more") {
		t.Errorf(`got %d rows, %q; want shown %v and a more.Text that begins with "150 more"`, in.shown, in.more.Text, maxListed)
	}
	in.Update(feed.View{})
	if !in.none.Visible() || in.scroll.Visible() {
		t.Error("the empty inbox does not say so")
	}
}
