package inbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/question"
	"fairlead/gateway/protocol"
)

// Model answers, postpones and confirms the questions of a gateway. It is safe for concurrent use.
type Model struct{ feed *feed.Feed }

// NewModel returns the model for a gateway.
func NewModel(f *feed.Feed) Model { return Model{f} }

// MarkShown reports that a surface has shown a question; an empty surface is a window.
func (m Model) MarkShown(id protocol.QuestionID, surface string) {
	feed.Start(m.feed, protocol.QuestionShown, protocol.QuestionShownParams{ID: id, Surface: surface})
}

// Answer gives the same answer to a question, or to several identical ones. They leave the view at
// once and return after a failure.
func (m Model) Answer(list []protocol.Question, p protocol.QuestionAnswerParams) {
	if len(list) == 0 {
		return
	}
	ids := idsOf(list)
	m.feed.Questions.Update(func(now *feed.Questions) { now.StartAnswer(ids...) })
	m.feed.Tasks.StartRequest(func(ctx context.Context) {
		outcomes, err := m.send(ctx, list, p)
		var back []protocol.Question
		if err != nil {
			back, outcomes = list, nil
		}
		lost := ""
		for i, q := range list[:len(outcomes)] {
			switch {
			case outcomes[i].Error != nil:
				err = outcomes[i].Error
				back = append(back, q)
			case !outcomes[i].Won && outcomes[i].Question.State != protocol.QuestionSuperseded:
				lost = question.OutcomeText(*outcomes[i].Question)
			}
		}
		if err != nil {
			m.feed.Tasks.Fail(fmt.Errorf("your answer was not accepted: %w", err))
			m.restore(ctx, back)
		}
		if lost != "" {
			m.feed.Notify("info", "This question was already answered: "+lost+".")
		}
	})
}

func idsOf(list []protocol.Question) []protocol.QuestionID {
	return lists.Map(list, func(q protocol.Question) protocol.QuestionID { return q.ID })
}

// send sends the answer to one question, or to several.
func (m Model) send(ctx context.Context, list []protocol.Question, p protocol.QuestionAnswerParams) ([]protocol.QuestionOutcome, error) {
	if len(list) == 1 {
		p.ID, p.Hash = list[0].ID, list[0].Hash
		r, err := feed.Call(ctx, m.feed, protocol.QuestionAnswer, p)
		return []protocol.QuestionOutcome{{ID: p.ID, Won: r.Won, Question: &r.Question}}, err
	}
	shown := lists.Map(list, func(q protocol.Question) protocol.ShownQuestion {
		return protocol.ShownQuestion{ID: q.ID, Hash: q.Hash}
	})
	res, err := feed.Call(ctx, m.feed, protocol.QuestionAll, protocol.QuestionAnswerAllParams{
		Questions: shown, Decision: p.Decision, Scope: p.Scope, Reason: p.Reason, Offers: p.Offers, Until: p.Until, Access: p.Access, Args: p.Args,
	})
	if err == nil && len(res.Outcomes) != len(list) {
		err = fmt.Errorf("the gateway answered %d of %d questions", len(res.Outcomes), len(list))
	}
	return res.Outcomes, err
}

// restore returns questions to the view whose answer failed, if they are still pending.
func (m Model) restore(ctx context.Context, list []protocol.Question) {
	open, err := feed.Call(ctx, m.feed, protocol.QuestionList, protocol.Empty{})
	if err != nil {
		open.Questions = list
	}
	ids := idsOf(list)
	m.feed.Questions.Update(func(now *feed.Questions) { now.EndAnswer(ids, open.Questions...) })
}

// Snooze postpones questions in all windows. They still expire, and can still be answered.
func (m Model) Snooze(list ...protocol.Question) { m.snooze(list, protocol.SnoozeFor) }

// Unsnooze ends the snoozing of questions.
func (m Model) Unsnooze(list ...protocol.Question) { m.snooze(list, 0) }

// snooze updates the view at once; the gateway's confirmation follows by the feed.
func (m Model) snooze(list []protocol.Question, d time.Duration) {
	ids := idsOf(list)
	until := int64(0)
	if d > 0 {
		until = time.Now().Add(d).UnixMilli()
	}
	set := func(until int64) {
		m.feed.Questions.Update(func(now *feed.Questions) {
			now.Pending = lists.Map(now.Pending, func(q protocol.Question) protocol.Question {
				if slices.Contains(ids, q.ID) {
					q.Later = until
				}
				return q
			})
			protocol.SortQuestions(now.Pending)
		})
	}
	set(until)
	m.feed.Tasks.StartRequest(func(ctx context.Context) {
		err := feed.Send(ctx, m.feed, protocol.QuestionSnooze, protocol.QuestionSnoozeParams{IDs: ids, For: d.Milliseconds()})
		if err != nil {
			m.feed.Tasks.Fail(fmt.Errorf("the question could not be postponed: %w", err))
			set(0)
		}
	})
}

// ToOpen returns the questions that the dialog shows: those for which it opens by itself, and those
// that the person wants. It omits snoozed ones.
func ToOpen(v feed.View, wanted func(protocol.QuestionID) bool) []protocol.Question {
	return lists.Without(v.Questions.Pending.Unsnoozed(), func(q protocol.Question) bool {
		return !question.KindOf(q).Opens && !wanted(q.ID)
	})
}
