package nodes

import (
	"cmp"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// NewRequest asks whether a device may be paired, or offer more than was allowed. notNow closes the
// question without an answer; if it is nil, that button is left out.
func NewRequest(r protocol.Question, now time.Time, answer func(protocol.Question, protocol.QuestionAnswerParams), notNow func()) *widgets.Question {
	rows := []fyne.CanvasObject{widgets.NewParagraph(question.RequestText(r, now), style.ColorText, "text")}
	if source := question.RequestSource(r); source != "" {
		rows = append(rows, widgets.NewParagraph(source, style.ColorMuted, style.SizeSmall))
	}
	if len(r.Pairing.Words) > 0 {
		words := widgets.NewParagraph(format.Words(r.Pairing.Words), style.ColorText, style.SizeTitle)
		rows = append(rows, widgets.NewParagraph("Allow it only if the other device shows the same words:", style.ColorMuted, style.SizeSmall), words)
	}
	q := widgets.NewQuestion(question.RequestTitle(r), rows, func(allow bool) { answer(r, question.Answer(allow)) }, notNow)
	arming := question.ArmingInView(r.Hash, now)
	q.Tick = func(now time.Time) {
		q.Set(wording.TimeLeft(r.ExpiresAt, now), cmp.Or(arming.WaitingText(now, "Allow"), "Allow"), arming.IsArmed(now))
	}
	q.Tick(now)
	return q
}

// UpdateRequests lists pending requests. answer is called with the person's answers.
func UpdateRequests(l *widgets.Questions, list []protocol.Question, now time.Time, answer func(protocol.Question, protocol.QuestionAnswerParams)) {
	ids := lists.Map(list, func(r protocol.Question) string { return string(r.ID) })
	l.Update(ids, func(i int) *widgets.Question { return NewRequest(list[i], now, answer, nil) })
}
