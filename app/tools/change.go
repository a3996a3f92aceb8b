package tools

import (
	"cmp"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// NewChange asks whether the agent may use tools of a server that have changed or are new, and shows
// every change.
func NewChange(asked protocol.Question, now time.Time, answer func(protocol.Question, protocol.QuestionAnswerParams)) *widgets.Question {
	const verb = "Accept"
	rows := []fyne.CanvasObject{widgets.NewParagraph(question.ToolsWait, style.ColorMuted, style.SizeSmall)}
	for _, t := range asked.Tools.Tools {
		name, _ := wording.Reveal(t.Name)
		rows = append(rows, widgets.NewNamedField(name, changeOf(t)))
	}
	q := widgets.NewQuestion(question.Title(asked), rows, func(accept bool) { answer(asked, question.Answer(accept)) }, nil)
	q.SetDeny(widgets.Choose(len(asked.Tools.Tools) == 1, "Turn it off", "Turn them off"))
	arming := question.ArmingInView(asked.Hash, now)
	q.Tick = func(now time.Time) {
		q.Set("", cmp.Or(arming.WaitingText(now, verb), verb), arming.IsArmed(now))
	}
	q.Tick(now)
	return q
}

// changeOf shows what has changed in a tool, or the description of a new one.
func changeOf(t protocol.ServerTool) fyne.CanvasObject {
	if t.Diff != "" {
		return description(t.Diff, style.ColorText)
	}
	return description(t.Description, style.ColorText)
}

// UpdateChanges lists the questions about changed tools.
func UpdateChanges(l *widgets.Questions, v feed.View, now time.Time, answer func(protocol.Question, protocol.QuestionAnswerParams)) {
	list := v.Questions.Pending.Of(protocol.AskTools)
	ids := lists.Map(list, func(q protocol.Question) string { return string(q.ID) })
	l.Update(ids, func(i int) *widgets.Question { return NewChange(list[i], now, answer) })
}
