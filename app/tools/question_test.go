package tools

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

func TestAServersQuestionIsAnsweredWithValidValues(t *testing.T) {
	pagetest.Start(t, style.Light)
	var answers []protocol.QuestionAnswerParams
	l := widgets.NewQuestions()
	h := QuestionHandlers{Answer: func(_ protocol.Question, a protocol.QuestionAnswerParams) { answers = append(answers, a) }}
	w := pagetest.Window(t, l.Box, 480, 760)
	update := func(list ...protocol.Question) {
		UpdateQuestions(l, feed.View{Questions: feed.Questions{Pending: list}}, pagetest.Noon, h)
	}
	update(inputQuestion())
	golden.Markup(t, "question", l.Box)
	pagetest.Shot(t, w, "tools-question")
	pagetest.Shows(t, l.Box, "“github” asks you a question", "How shall the new repository be set up?", "Stars (optional)", "Enter no passwords", "5:00 left")
	test.Tap(pagetest.Button(t, l.Box, "Send in 2 s"))
	if answers != nil {
		t.Fatalf("a click counted at once: %+v", answers)
	}
	l.Tick(pagetest.Noon.Add(2 * time.Second))
	test.Tap(pagetest.Button(t, l.Box, "Send"))
	pagetest.Shows(t, l.Box, "Fill in this field.", "Choose one.")
	if answers != nil {
		t.Fatalf("an incomplete answer was sent: %+v", answers)
	}
	pagetest.Shot(t, w, "tools-question-problems")
	name := widgettest.Find(l.Box, func(e *widgets.Entry) bool { return e.Text == "" })
	name.SetText("fairlead")
	if strings.Count(golden.Words(l.Box), "Fill in this field.") != 0 {
		t.Error("the problem stays after a change")
	}
	widgettest.Find(l.Box, func(*widgets.Select) bool { return true }).SetSelected("Apache 2.0")
	widgettest.Find(l.Box, func(c *widgets.Check) bool { return c.Label == "Command line" }).Box.SetChecked(true)
	test.Tap(pagetest.Button(t, l.Box, "Send"))
	want := protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Values: map[string]any{
		"name": "fairlead", "stars": 3.0, "private": true, "license": "apache", "topics": []any{"cli"},
	}}
	if len(answers) != 1 || !reflect.DeepEqual(answers[0], want) {
		t.Errorf("got %+v, want %+v", answers, want)
	}
	test.Tap(pagetest.Button(t, l.Box, "Decline"))
	if len(answers) != 2 || answers[1].Decision != protocol.DecisionDeny || answers[1].Values != nil {
		t.Errorf("declined with %+v", answers)
	}
	update()
	if len(l.Box.Objects) != 0 {
		t.Error("a question that is over is shown")
	}
}

func TestAnAddressIsOpenedOnlyByAClick(t *testing.T) {
	pagetest.Start(t, style.Light)
	var opened []string
	var answers []protocol.QuestionAnswerParams
	in := protocol.Question{ID: "u", Kind: protocol.AskInput, ExpiresAt: at(time.Minute), Input: &protocol.InputSubject{Server: "pay", Message: "Confirm the payment.", URL: "https://pay.example.org/confirm?id=7"}}
	q := NewQuestion(in, feed.View{}, pagetest.Noon, QuestionHandlers{
		Answer: func(_ protocol.Question, a protocol.QuestionAnswerParams) { answers = append(answers, a) }, OpenURL: func(u string) { opened = append(opened, u) },
	})
	w := pagetest.Window(t, q.Box, 480, 400)
	pagetest.Shot(t, w, "tools-question-url")
	golden.Markup(t, "url", q.Box)
	pagetest.Shows(t, q.Box, "“pay” asks you to open a page", "pay.example.org", "https://pay.example.org/confirm?id=7")
	test.Tap(pagetest.Button(t, q.Box, "Open in browser in 2 s"))
	if opened != nil {
		t.Error("it was opened at once")
	}
	q.Tick(pagetest.Noon.Add(2 * time.Second))
	test.Tap(pagetest.Button(t, q.Box, "Open in browser"))
	if len(opened) != 1 || opened[0] != in.Input.URL || len(answers) != 1 || answers[0].Decision != protocol.DecisionAllow || answers[0].Values != nil {
		t.Errorf("opened %v, answered %+v", opened, answers)
	}
}
