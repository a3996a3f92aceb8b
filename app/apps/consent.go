package apps

import (
	"cmp"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// NewConsent asks whether an app may connect, with which permissions and on which machines. notNow
// closes the question without an answer; if it is nil, that button is left out.
func NewConsent(asked protocol.Question, nodes []protocol.NodeInfo, now time.Time, answer func(protocol.Question, protocol.QuestionAnswerParams), notNow func()) *widgets.Question {
	var q *widgets.Question
	c := *asked.App
	changed := func() {
		q.Tick(now)
		q.Box.Refresh()
		widgets.Call(q.OnResize)
	}
	permissions := newPermissions(c.Scopes, c.Scopes, changed)
	machines := newMachines(nodes, len(c.Nodes) > 0, c.Nodes, changed)
	text, _ := wording.Reveal(question.ConsentText(c))
	rows := []fyne.CanvasObject{
		widgets.NewParagraph(text, style.ColorText, "text"),
		widgets.NewParagraph("Allow it only if your browser shows the same code:", style.ColorMuted, style.SizeSmall),
		widgets.NewParagraph(c.Code, style.ColorText, style.SizeTitle),
		widgets.NewSectionHeading("IT MAY"), permissions.box,
		widgets.NewSectionHeading("ON"), machines.box,
	}
	q = widgets.NewQuestion(question.ConsentTitle(c), rows, func(allow bool) {
		p := question.Answer(allow)
		if allow {
			p.Nodes, _ = machines.chosen()
			p.Scopes = permissions.chosen()
		}
		answer(asked, p)
	}, notNow)
	arming := question.ArmingInView(asked.Hash, now)
	q.Tick = func(t time.Time) {
		now = t
		_, chosen := machines.chosen()
		can := arming.IsArmed(now) && chosen && len(permissions.chosen()) > 0
		q.Set(wording.TimeLeft(asked.ExpiresAt, now), cmp.Or(arming.WaitingText(now, "Allow"), "Allow"), can)
	}
	q.Tick(now)
	return q
}

// UpdateConsents lists the apps that ask to connect. answer is called with the person's answers.
func UpdateConsents(l *widgets.Questions, list []protocol.Question, nodes []protocol.NodeInfo, now time.Time, answer func(protocol.Question, protocol.QuestionAnswerParams)) {
	ids := lists.Map(list, func(q protocol.Question) string { return string(q.ID) })
	l.Update(ids, func(i int) *widgets.Question { return NewConsent(list[i], nodes, now, answer, nil) })
}
