package inbox

import (
	"cmp"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// kinds are the kinds of questions. A new kind is a line here, with a file for its words in
// app/question and one for its subject in this package.
var kinds = map[string]kind{
	protocol.AskCall:     {words: question.CallWords, subject: call, opens: true, close: protocol.DecisionDeny, isRow: true},
	protocol.AskType:     {words: question.CallWords, subject: call, opens: true, close: protocol.DecisionDeny, isRow: true},
	protocol.AskKeep:     {words: question.CallWords, subject: call, opens: true, close: protocol.DecisionDeny, isRow: true},
	protocol.AskContinue: {words: question.CallWords, subject: call, opens: true, close: protocol.DecisionDeny, isRow: true},
	protocol.AskPair:     {words: question.PairingWords, subject: pairing, opens: true, isOfDevice: true},
	protocol.AskWiden:    {words: question.PairingWords, subject: pairing, opens: true, isOfDevice: true},
	protocol.AskApp:      {words: question.AppWords, subject: app, opens: true},
	protocol.AskInput:    {words: question.InputWords, subject: input, opens: true, close: protocol.DecisionDismiss},
	protocol.AskTools:    {words: question.ToolsWords, subject: tools},
	protocol.AskSender:   {words: question.SenderWords, subject: sender},
}

// unknown is a kind of a newer gateway. It has no answer, because it cannot be shown.
var unknown = kind{words: question.UnknownWords, subject: func(q protocol.Question, at place) subject {
	text := widgets.NewParagraph(question.UnknownWords(q, at.view, at.now).Body, style.ColorText, "text")
	return subject{rows: []fyne.CanvasObject{text}, noAnswer: true}
}}

// kind is how the questions of a kind are shown and answered.
type kind struct {
	words   func(protocol.Question, feed.View, time.Time) question.Words
	subject func(protocol.Question, place) subject
	// opens reports whether the dialog opens for it by itself, because somebody waits for the answer.
	opens bool
	// close is the decision when the person closes the dialog; empty postpones the question.
	close string
	// isRow reports whether the page lists it in a row that opens the dialog, and not in a card, and
	// whether one notification may stand for many.
	isRow bool
	// isOfDevice reports whether it is about a device, whose notifications have their own setting.
	isOfDevice bool
}

// kindOf returns the kind of a question.
func kindOf(q protocol.Question) kind {
	if k, ok := kinds[q.Kind]; ok {
		return k
	}
	return unknown
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

// Words returns what the questions of a view say outside their dialog.
func Words(v feed.View, now time.Time) func(protocol.Question) question.Words {
	return func(q protocol.Question) question.Words {
		w := kindOf(q).words(q, v, now)
		w.Line = cmp.Or(w.Line, w.Title)
		return w
	}
}

// Notice is a question as a notification says it.
type Notice struct {
	question.Words
	Question   protocol.Question
	IsOfDevice bool // such notifications have their own setting
	CanMerge   bool // one notification may stand for many
}

// Notices returns the questions of a view that are not snoozed.
func Notices(v feed.View, now time.Time) []Notice {
	words := Words(v, now)
	return lists.Map(v.Questions.Pending.Unsnoozed(), func(q protocol.Question) Notice {
		k := kindOf(q)
		return Notice{Words: words(q), Question: q, IsOfDevice: k.isOfDevice, CanMerge: k.isRow}
	})
}
