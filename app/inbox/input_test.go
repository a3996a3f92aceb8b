package inbox

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/golden"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

func TestAServersQuestionIsAnsweredWithValidValues(t *testing.T) {
	pagetest.Start(t, style.Light)
	var answers []protocol.QuestionAnswerParams
	l := NewCards(host.Env{Feed: feed.New()}, protocol.AskInput)
	l.answer = func(_ []protocol.Question, a protocol.QuestionAnswerParams) { answers = append(answers, a) }
	w := pagetest.Window(t, l.Box, 480, 760)
	update := func(list ...protocol.Question) {
		l.Show(feed.View{Questions: feed.Questions{Pending: list}}, pagetest.Noon)
	}
	update(inputQuestion())
	golden.Markup(t, "input", l.Box)
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
	var page pagetest.Host
	var answers []protocol.QuestionAnswerParams
	in := protocol.Question{ID: "u", Kind: protocol.AskInput, ExpiresAt: atNoon(time.Minute), Input: &protocol.InputSubject{Server: "pay", Message: "Confirm the payment.", URL: "https://pay.example.org/confirm?id=7"}}
	q := newCard(in, place{Env: host.Env{Host: &page, Feed: feed.New()}, now: pagetest.Noon}, func(a protocol.QuestionAnswerParams) { answers = append(answers, a) })
	w := pagetest.Window(t, q.Box, 480, 400)
	pagetest.Shot(t, w, "tools-question-url")
	golden.Markup(t, "input-url", q.Box)
	pagetest.Shows(t, q.Box, "“pay” asks you to open a page", "pay.example.org", "https://pay.example.org/confirm?id=7")
	test.Tap(pagetest.Button(t, q.Box, "Open in browser in 2 s"))
	if page.Did != nil {
		t.Error("it was opened at once")
	}
	q.Tick(pagetest.Noon.Add(2 * time.Second))
	test.Tap(pagetest.Button(t, q.Box, "Open in browser"))
	if !slices.Equal(page.Did, []string{"url " + in.Input.URL}) || len(answers) != 1 || answers[0].Decision != protocol.DecisionAllow || answers[0].Values != nil {
		t.Errorf("did %v, answered %+v", page.Did, answers)
	}
}

func inputQuestion() protocol.Question {
	one, five := 1.0, 5.0
	return protocol.Question{
		ID: "q", Kind: protocol.AskInput, CreatedAt: atNoon(0), ExpiresAt: atNoon(5 * time.Minute), Input: &protocol.InputSubject{Server: "github", Message: "How shall the new repository be set up?", Fields: []protocol.Field{
			{Name: "name", Title: "Name", Kind: "text", Required: true, Description: "Letters and digits.", Min: &one},
			{Name: "stars", Title: "Stars", Kind: "integer", Min: &one, Max: &five, Default: 3.0},
			{Name: "private", Title: "Private", Kind: "boolean", Default: true},
			{Name: "license", Title: "Licence", Kind: "choice", Required: true, Choices: []protocol.Choice{{Value: "mit", Title: "MIT"}, {Value: "apache", Title: "Apache 2.0"}}},
			{Name: "topics", Title: "Topics", Kind: "choices", Choices: []protocol.Choice{{Value: "go", Title: "Go"}, {Value: "cli", Title: "Command line"}}},
		}},
	}
}
