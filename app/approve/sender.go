package approve

import (
	"cmp"
	"strings"
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

// newSender asks whether an unknown sender may write to the agent.
func newSender(asked protocol.Question, now time.Time, answer func(protocol.Question, protocol.QuestionAnswerParams)) *widgets.Question {
	const verb = "Allow"
	_, about := question.PendingText(asked.Sender.PendingPair)
	rows := []fyne.CanvasObject{widgets.NewParagraph(about, style.ColorMuted, style.SizeSmall)}
	if text, _ := wording.Reveal(strings.TrimSpace(asked.Sender.FirstMessage)); text != "" {
		rows = append(rows, widgets.NewNamedField("First message", widgets.NewParagraph(text, style.ColorText, "text")))
	}
	q := widgets.NewQuestion(question.Title(asked), rows, func(allow bool) { answer(asked, question.Answer(allow)) }, nil)
	arming := question.ArmingInView(asked.Hash, now)
	q.Tick = func(now time.Time) {
		q.Set("", cmp.Or(arming.WaitingText(now, verb), verb), arming.IsArmed(now))
	}
	q.Tick(now)
	return q
}

// updateSenders lists the unknown senders who wait for access.
func updateSenders(l *widgets.Questions, v feed.View, now time.Time, answer func(protocol.Question, protocol.QuestionAnswerParams)) {
	list := v.Questions.Pending.Of(protocol.AskSender)
	ids := lists.Map(list, func(q protocol.Question) string { return string(q.ID) })
	l.Update(ids, func(i int) *widgets.Question { return newSender(list[i], now, answer) })
}
