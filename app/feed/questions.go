package feed

import (
	"context"
	"encoding/json"
	"slices"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// Questions has the questions that wait for the person.
type Questions struct {
	// Pending are those of every kind that are not being answered here, in the order in which the
	// person should answer them.
	Pending QuestionList
	// Closed are recently closed questions, oldest first, for the windows that showed them.
	Closed []Closed

	answering map[protocol.QuestionID]bool // those with an answer of this window on its way
}

// Closed is a question that is no longer pending. AnsweredHere reports whether this window answered
// it.
type Closed struct {
	protocol.Question
	AnsweredHere bool
}

// maxClosed is the number of closed questions that are retained.
const maxClosed = 32

func (s *Questions) set(list []protocol.Question) {
	s.Pending = nil
	for _, q := range list {
		s.apply(q)
	}
}

// apply applies a question's state.
func (s *Questions) apply(q protocol.Question) {
	same := func(x protocol.Question) bool { return x.ID == q.ID }
	if q.State != protocol.QuestionPending {
		s.Pending = lists.Without(s.Pending, same)
		s.Closed = append(lists.Without(s.Closed, func(x Closed) bool { return x.ID == q.ID }), Closed{q, s.answering[q.ID]})
		s.Closed = s.Closed[max(0, len(s.Closed)-maxClosed):]
		s.setAnswering(false, q.ID)
		return
	}
	if s.answering[q.ID] {
		return
	}
	s.Pending = lists.Replace(s.Pending, q, same)
	protocol.SortQuestions(s.Pending)
}

func (s *Questions) setAnswering(on bool, ids ...protocol.QuestionID) {
	s.answering = lists.MapWith(s.answering, true, on, ids...)
}

// StartAnswer removes questions while the person's answer is on its way.
func (s *Questions) StartAnswer(ids ...protocol.QuestionID) {
	isOne := func(x protocol.Question) bool { return slices.Contains(ids, x.ID) }
	s.setAnswering(true, ids...)
	s.Pending = lists.Without(s.Pending, isOne)
}

// EndAnswer ends the answers to questions. Those among them that are pending return.
func (s *Questions) EndAnswer(ids []protocol.QuestionID, now ...protocol.Question) {
	s.setAnswering(false, ids...)
	for _, q := range now {
		if slices.Contains(ids, q.ID) {
			s.apply(q)
		}
	}
}

// Find finds a question.
func (l QuestionList) Find(id protocol.QuestionID) (protocol.Question, bool) {
	return lists.Find(l, func(q protocol.Question) bool { return q.ID == id })
}

// OfCalls returns the approvals: the questions about calls and about runs that make calls.
func (l QuestionList) OfCalls() QuestionList {
	return lists.Without(l, func(q protocol.Question) bool { return !q.IsOfCall() })
}

// Unsnoozed returns the questions that are not snoozed.
func (l QuestionList) Unsnoozed() QuestionList {
	return lists.Without(l, func(q protocol.Question) bool { return q.Later != 0 })
}

// NextQuestion returns the first pending approval of the next chat after the given one that waits
// for the person, in the order of waiting. Without another chat, it is of the given one.
func (v View) NextQuestion(after protocol.SessionKey) (q protocol.Question, ok bool) {
	var first []protocol.Question // of each chat
	for _, a := range v.Questions.Pending.OfCalls() {
		if !slices.ContainsFunc(first, func(x protocol.Question) bool { return x.SessionKey == a.SessionKey }) {
			first = append(first, a)
		}
	}
	if len(first) == 0 {
		return q, false
	}
	at := slices.IndexFunc(first, func(x protocol.Question) bool { return x.SessionKey == after })
	return first[(at+1)%len(first)], true
}

// QuestionList is a list of questions.
type QuestionList []protocol.Question

// Of returns the questions of some kinds.
func (l QuestionList) Of(kinds ...string) QuestionList {
	return lists.Without(l, func(q protocol.Question) bool { return !slices.Contains(kinds, q.Kind) })
}

// TryRule finds the earlier calls that a rule would have decided differently. It blocks.
func TryRule(ctx context.Context, g Gateway, policy json.RawMessage) (protocol.RuleTryResult, error) {
	return Call(ctx, g, protocol.RuleTry, protocol.RuleTryParams{Policy: policy, Limit: 50})
}
