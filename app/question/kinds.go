package question

import (
	"cmp"
	"slices"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// kinds are the kinds of questions. A new kind is a line here, with a file for its words in this
// package, and a line in the table of app/inbox, with a file for its subject there.
var kinds = map[string]Kind{
	protocol.AskCall:     {words: CallWords, Opens: true, Close: protocol.DecisionDeny, IsCall: true},
	protocol.AskType:     {words: CallWords, Opens: true, Close: protocol.DecisionDeny, IsCall: true},
	protocol.AskKeep:     {words: CallWords, Opens: true, Close: protocol.DecisionDeny, IsCall: true},
	protocol.AskContinue: {words: CallWords, Opens: true, Close: protocol.DecisionDeny, IsCall: true},
	protocol.AskPair:     {words: PairingWords, Opens: true, IsOfDevice: true},
	protocol.AskWiden:    {words: PairingWords, Opens: true, IsOfDevice: true},
	protocol.AskApp:      {words: AppWords, Opens: true},
	protocol.AskInput:    {words: InputWords, Opens: true, Close: protocol.DecisionDismiss},
	protocol.AskTools:    {words: ToolsWords},
	protocol.AskSender:   {words: SenderWords},
	protocol.AskVisit:    {words: VisitWords},
}

// Kind is what the questions of a kind have in common.
type Kind struct {
	words func(protocol.Question, feed.View, time.Time) Words
	// Opens reports whether the dialog opens for it by itself, because somebody waits for the answer.
	Opens bool
	// Close is the decision when the person closes the dialog; empty postpones the question.
	Close string
	// IsCall reports whether it is about a call: the page lists it in a row that opens the dialog, and
	// not in a card, and one notification may stand for many.
	IsCall bool
	// IsOfDevice reports whether it is about a device, whose notifications have their own setting.
	IsOfDevice bool
}

// KindOf returns the kind of a question. One of a newer gateway has a kind without properties.
func KindOf(q protocol.Question) Kind {
	if k, ok := kinds[q.Kind]; ok {
		return k
	}
	return Kind{words: UnknownWords}
}

// WordsOf returns what a question says outside its dialog.
func WordsOf(q protocol.Question, v feed.View, now time.Time) Words {
	w := KindOf(q).words(q, v, now)
	w.Line = cmp.Or(w.Line, w.Title)
	return w
}

// Group is a question together with all pending ones that ask exactly the same.
type Group struct {
	protocol.Question
	All []protocol.Question
	// Later is the time until which a whole group is snoozed, in Unix milliseconds; 0 if it is not.
	Later int64
}

// Groups returns the pending questions in their order, with identical ones grouped and snoozed ones
// last.
func Groups(v feed.View) []Group {
	var list []Group
	seen := make(map[protocol.QuestionID]bool)
	for _, q := range v.Questions.Pending {
		if seen[q.ID] {
			continue
		}
		g := Group{Question: q, All: Identical(v.Questions.Pending, q), Later: q.Later}
		for _, x := range g.All {
			seen[x.ID] = true
			if x.Later == 0 {
				g.Later = 0
			}
		}
		list = append(list, g)
	}
	slices.SortStableFunc(list, func(a, b Group) int { return lists.TrueFirst(a.Later == 0, b.Later == 0) })
	return list
}
