package inbox

import (
	"cmp"
	"time"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// newCard shows a question with its answers on a page. answer is called with the person's answer.
func newCard(q protocol.Question, at place, answer func(protocol.QuestionAnswerParams)) *widgets.Question {
	var card *widgets.Question
	now := at.now
	at.onChange = func() {
		card.Tick(now)
		card.Box.Refresh()
		widgets.Call(card.OnResize)
	}
	s := subjectOf(q, at)
	card = widgets.NewQuestion(question.WordsOf(q, at.view, now).Title, s.rows, func(allow bool) {
		if p, ok := s.answer(allow); ok {
			answer(p)
		} else {
			at.onChange()
		}
	}, nil)
	card.SetDeny(cmp.Or(s.deny, "Deny"))
	if s.noAnswer {
		card.HideAnswers()
	}
	arming := question.ArmingInView(q.Hash, now)
	card.Tick = func(t time.Time) {
		now = t
		isLost := at.Feed.Status.Get().IsLost()
		card.Set(widgets.Choose(isLost, notConnected, timeText(q, now)), cmp.Or(arming.WaitingText(now, s.allowText()), s.allowText()), arming.IsArmed(now) && s.canAllow() && !isLost)
		card.EnableDeny(!isLost)
	}
	card.Tick(now)
	return card
}

// timeText says how long a question waits, or until when it is postponed.
func timeText(q protocol.Question, now time.Time) string {
	if q.Later != 0 {
		return "postponed until " + time.UnixMilli(q.Later).Format("15:04")
	}
	return wording.TimeLeft(q.ExpiresAt, now)
}

// Cards are the questions of some kinds on a page about their subject, such as the machines that want
// to be paired. They belong to the GUI thread.
type Cards struct {
	*widgets.Questions
	kinds  []string
	env    host.Env
	answer func([]protocol.Question, protocol.QuestionAnswerParams)
}

// NewCards creates an empty list of the questions of some kinds.
func NewCards(e host.Env, kinds ...string) *Cards {
	return &Cards{Questions: widgets.NewQuestions(), kinds: kinds, env: e, answer: NewModel(e.Feed).Answer}
}

// Show lists the questions of a view. Those that are shown already stay as they are.
func (c *Cards) Show(v feed.View, now time.Time) {
	list := v.Questions.Pending.Of(c.kinds...)
	c.Update(lists.Map(list, func(q protocol.Question) string { return string(q.ID) }), func(i int) *widgets.Question {
		q := list[i]
		return newCard(q, place{Env: c.env, view: v, now: now}, func(p protocol.QuestionAnswerParams) { c.answer([]protocol.Question{q}, p) })
	})
}
