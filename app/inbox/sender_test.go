package inbox

import (
	"errors"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// TestUnknownSenderIsAnsweredInNeedsYou: a stranger is one question of those that need the person.
func TestUnknownSenderIsAnsweredInNeedsYou(t *testing.T) {
	v := feed.View{Questions: feed.Questions{Pending: feed.QuestionList{{ID: "q", Kind: protocol.AskSender, Hash: "h", Sender: &protocol.SenderSubject{
		PendingPair: protocol.PendingPair{Channel: "xmpp", SenderID: "ann@town.test", SenderName: "Ann", FirstMessage: "May I?"},
	}}}}}
	if v.Needs() != 1 {
		t.Errorf("got %d questions, want 1", v.Needs())
	}
	if got, want := question.SenderWords(v.Questions.Pending[0], v, pagetest.Noon).Title, "Let “Ann” (ann@town.test) write to the agent on XMPP?"; got != want {
		t.Errorf("title: got %q, want %q", got, want)
	}
	pagetest.Start(t, style.Light)
	var answers []protocol.QuestionAnswerParams
	f := feed.New()
	l := NewCards(host.Env{Feed: f}, protocol.AskSender)
	l.answer = func(_ []protocol.Question, p protocol.QuestionAnswerParams) { answers = append(answers, p) }
	pagetest.Window(t, l.Box, 480, 760)
	l.Show(v, pagetest.Noon)
	f.Down(errors.New("connection refused"))
	l.Tick(pagetest.Noon.Add(time.Minute))
	pagetest.Shows(t, l.Box, notConnected)
	for _, text := range []string{"Allow", "Deny"} {
		if b := pagetest.VisibleButton(l.Box, text); b == nil || !b.Disabled() {
			t.Errorf("without a connection: got %s enabled, want it disabled", text)
		}
	}
	f.Connected()
	l.Tick(pagetest.Noon.Add(time.Minute))
	test.Tap(pagetest.Button(t, l.Box, "Allow"))
	if len(answers) != 1 || answers[0].Decision != protocol.DecisionAllow {
		t.Errorf("answers: got %+v, want one that allows", answers)
	}
}
