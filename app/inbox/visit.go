package inbox

import (
	"fyne.io/fyne/v2"

	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// visit shows somebody who wants to visit a published app. The person chooses for how long.
func visit(q protocol.Question, at place) subject {
	v := *q.Visit
	from, _ := wording.Reveal(display.VisitorFrom(v))
	app, _ := wording.Reveal(v.URL + " on " + at.view.Machines.Name(q.Node))
	rows := []fyne.CanvasObject{widgets.NewParagraph(from, style.ColorText, "text"), widgets.NewNamedField("App", widgets.NewParagraph(app, style.ColorText, "text"))}
	if text, _ := wording.Reveal(v.Message); text != "" {
		rows = append(rows, widgets.NewNamedField("Message", widgets.NewParagraph(text, style.ColorText, "text")))
	}
	times := widgets.NewSelect(lists.Map(question.VisitTimes, func(t question.VisitTime) string { return t.Text }), nil)
	times.SetSelectedIndex(0)
	times.OnChanged = func(string) { at.onChange() }
	scope, _ := wording.Reveal(display.VisitScope(v))
	return subject{
		rows: append(rows, widgets.NewNamedField("Allow for", times), widgets.NewParagraph(scope, style.ColorMuted, style.SizeSmall)),
		complete: func(p *protocol.QuestionAnswerParams) bool {
			p.For = question.VisitTimes[times.SelectedIndex()].For
			return true
		},
	}
}
