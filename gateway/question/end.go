package question

import (
	"context"
	"errors"
	"slices"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// end closes a question without an answer, after an answer that is being carried out. Someone may
// have answered at the same moment: the first to close the row wins, and the result is theirs.
func (s *Queue) end(ctx context.Context, q protocol.Question, state, by string) (protocol.Question, error) {
	defer s.open.lock(q.ID)()
	q.State, q.AnsweredBy = state, by
	q, _, err := s.resolve(ctx, q)
	return q, err
}

// resolve closes a question, together with the rules that its answer saves. It returns the closed
// one, and whether end is what closed it.
func (s *Queue) resolve(ctx context.Context, end protocol.Question, rules ...store.RuleChange) (protocol.Question, bool, error) {
	end.AnsweredAt, end.Later = time.Now().UnixMilli(), 0
	_, won, err := s.store.Change(ctx, end.ID, func(q *protocol.Question) bool {
		end.Shown, end.SurfaceShown, end.ShownAt, end.Unseen = q.Shown, q.SurfaceShown, q.ShownAt, q.Unseen
		*q = end
		return true
	}, rules...)
	if err != nil {
		return end, false, err
	}
	if !won {
		now, err := s.store.Get(ctx, end.ID)
		return now, false, err
	}
	a := s.open.find(end.ID)
	s.remove(end.ID)
	if a != nil {
		a.answers <- end // capacity 1, and only the winner sends
		if a.Ended != nil {
			a.Ended(end)
		}
	}
	s.Display.publish(end)
	return end, true, nil
}

// Review checks the pending questions about calls again after the rules have changed. Those for
// which decided returns true are closed as superseded, and their callers decide again.
func (s *Queue) Review(ctx context.Context, decided func(protocol.Question) bool) error {
	return s.closePending(ctx, protocol.QuestionSuperseded, "the rules", func(q protocol.Question) bool {
		return q.IsCall() && decided(q)
	})
}

// Withdraw closes a question that is no longer needed, if it is still pending.
func (s *Queue) Withdraw(ctx context.Context, id protocol.QuestionID) error {
	q, err := s.store.Get(ctx, id)
	if err != nil || q.State != protocol.QuestionPending {
		return err
	}
	by := "its call"
	if !q.IsOfCall() {
		by = "whoever asked"
	}
	_, err = s.end(ctx, q, protocol.QuestionCancelled, by)
	return err
}

// CancelOrphans cancels the questions from before this start of the gateway that nobody waits for.
// A run that is active asks its own again. Who asks about the change of a file, a stranger or a
// visitor returns.
func (s *Queue) CancelOrphans(ctx context.Context, startedAt time.Time, isActive func(protocol.RunID) bool) error {
	return s.closePending(ctx, protocol.QuestionCancelled, "a restart", func(q protocol.Question) bool {
		survives := q.Tool == protocol.KeepTool || q.Kind == protocol.AskSender || q.Kind == protocol.AskVisit
		return q.CreatedAt < startedAt.UnixMilli() && !survives && !isActive(q.RunID)
	})
}

// closePending closes the pending questions for which chosen returns true.
func (s *Queue) closePending(ctx context.Context, state, by string, chosen func(protocol.Question) bool) error {
	list, err := s.store.Pending(ctx)
	if err != nil {
		return err
	}
	for _, q := range slices.DeleteFunc(list, func(q protocol.Question) bool { return !chosen(q) }) {
		if _, err := s.end(ctx, q, state, by); err != nil && !errors.Is(err, protocol.ErrNotFound) {
			return err
		}
	}
	return nil
}

// hashOf returns the hash of everything that identifies what a question shows.
func hashOf(q protocol.Question) (string, error) {
	switch {
	case q.IsCall():
		return protocol.CallHash(protocol.AskCall, q.Node, q.Tool, q.Args, q.Preview, q.Policy)
	case q.IsOfCall():
		return protocol.CallHash(q.Kind, q.Node, q.Tool, q.Args, q.Preview, q.Policy)
	}
	return q.SubjectHash()
}

// answeredByNobody is the AnsweredBy of an expired question.
const answeredByNobody = "nobody"

// reasonUnattended is the reason of a question that expired at once, as the one before had.
const reasonUnattended = "nobody answered the question before"

// expireUnattended closes a question that need not be shown, and stores it. A run that nobody may
// be there to answer waits at its first question until that is answered or expires. After an
// expiry, its later questions expire immediately; otherwise each step of the run would wait as long
// again and block its job and its chat for hours. The run continues, because it can still do what
// needs no answer and report the rest. An answer in between shows that somebody is there.
func (s *Queue) expireUnattended(ctx context.Context, q *protocol.Question) (bool, error) {
	if q.RunID == "" || !q.AskedBy.IsUnattended() {
		return false, nil
	}
	gone, err := s.store.Unanswered(ctx, q.RunID)
	if err != nil || !gone {
		return false, err
	}
	q.State, q.AnsweredBy, q.Reason = protocol.QuestionExpired, answeredByNobody, reasonUnattended
	q.ExpiresAt, q.AnsweredAt = q.CreatedAt, q.CreatedAt
	if err := s.store.Put(context.WithoutCancel(ctx), *q, nil); err != nil {
		return true, err
	}
	s.Display.publish(*q)
	return true, nil
}
