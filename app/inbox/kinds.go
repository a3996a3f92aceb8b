package inbox

import (
	"cmp"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// subjects show what the questions of a kind are about. A new kind is a line here, with a file for its
// subject in this package.
var subjects = map[string]func(protocol.Question, place) subject{
	protocol.AskCall: call, protocol.AskType: call, protocol.AskKeep: call, protocol.AskContinue: call,
	protocol.AskPair: pairing, protocol.AskWiden: pairing,
	protocol.AskApp:    app,
	protocol.AskInput:  input,
	protocol.AskTools:  tools,
	protocol.AskSender: sender,
	protocol.AskVisit:  visit,
}

// subjectOf returns the subject of a question. One of a newer gateway has no answer, because it cannot
// be shown.
func subjectOf(q protocol.Question, at place) subject {
	if show := subjects[q.Kind]; show != nil {
		return show(q, at)
	}
	text := widgets.NewParagraph(question.WordsOf(q, at.view, at.now).Body, style.ColorText, "text")
	return subject{rows: []fyne.CanvasObject{text}, noAnswer: true}
}

// subject is what the dialog or a card shows of a question, and the answers that it has.
type subject struct {
	rows []fyne.CanvasObject
	// allow and deny are the texts of the buttons; empty are Allow and Deny.
	allow, deny string
	// isReady reports whether the person has chosen enough to allow it; nil is always.
	isReady func() bool
	// complete adds to an allow what the person chose, and reports false if something must be
	// corrected first; nil adds nothing.
	complete func(*protocol.QuestionAnswerParams) bool
	// noAnswer reports that the question can only be postponed.
	noAnswer bool
	// options are what only questions about calls have; nil for others.
	options *options
}

func (s subject) allowText() string { return cmp.Or(s.allow, "Allow") }

func (s subject) canAllow() bool { return !s.noAnswer && (s.isReady == nil || s.isReady()) }

// answer returns the answer yes or no with what the person chose. ok is false if something must be
// corrected first.
func (s subject) answer(allow bool) (p protocol.QuestionAnswerParams, ok bool) {
	p = question.Answer(allow)
	return p, !allow || s.complete == nil || s.complete(&p)
}

// place is where a subject is shown.
type place struct {
	host.Env
	view     feed.View
	now      time.Time
	onChange func() // called when the person has chosen something, or the height has changed
	onKey    func(fyne.KeyName) bool
	onScroll func(*fyne.ScrollEvent) // receives scroll events over panels
}
