package state

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

// Reply is a person's answer to one or several approvals; Answer sets Questions.
type Reply = protocol.QuestionAnswerAllParams

// Approvals shows, answers and snoozes the pending approvals.
type Approvals struct{ app *App }

// MarkShown reports that a surface has shown a question; an empty surface is a window.
func (s Approvals) MarkShown(id protocol.QuestionID, surface string) {
	feed.Start(s.app.Feed, protocol.QuestionShown, protocol.QuestionShownParams{ID: id, Surface: surface})
}

// Answer answers identical approvals, which leave the view at once and return after a failure.
func (s Approvals) Answer(list []protocol.Question, r Reply) {
	if len(list) == 0 {
		return
	}
	ids := approvalIDs(list)
	s.app.Feed.Questions.Update(func(now *feed.Questions) { now.StartAnswer(ids...) })
	s.app.Tasks.StartRequest(func(ctx context.Context) {
		outcomes, err := s.send(ctx, list, r)
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
			s.app.Tasks.Fail(fmt.Errorf("your answer was not accepted: %w", err))
			s.restore(ctx, back)
		}
		if lost != "" {
			s.app.Notify("info", "This approval was already answered: "+lost+".")
		}
	})
}

func approvalIDs(list []protocol.Question) []protocol.QuestionID {
	return lists.Map(list, func(q protocol.Question) protocol.QuestionID { return q.ID })
}

func (s Approvals) send(ctx context.Context, list []protocol.Question, r Reply) ([]protocol.QuestionOutcome, error) {
	r.Questions = lists.Map(list, func(q protocol.Question) protocol.ShownQuestion {
		return protocol.ShownQuestion{ID: q.ID, Hash: q.Hash}
	})
	res, err := feed.Call(ctx, s.app, protocol.QuestionAll, r)
	if err == nil && len(res.Outcomes) != len(list) {
		err = fmt.Errorf("the gateway answered for %d of %d approvals", len(res.Outcomes), len(list))
	}
	return res.Outcomes, err
}

// restore returns approvals to the view whose answer failed, if they are still pending.
func (s Approvals) restore(ctx context.Context, list []protocol.Question) {
	open, err := feed.Call(ctx, s.app, protocol.QuestionList, protocol.Empty{})
	if err != nil {
		open.Questions = list
	}
	ids := approvalIDs(list)
	s.app.Feed.Questions.Update(func(now *feed.Questions) { now.EndAnswer(ids, open.Questions...) })
}

// Snooze snoozes approvals in all windows. They still expire, and can still be answered.
func (s Approvals) Snooze(list ...protocol.Question) {
	s.snooze(list, protocol.SnoozeFor)
}

// Unsnooze ends the snoozing of an approval.
func (s Approvals) Unsnooze(id protocol.QuestionID) {
	s.snooze([]protocol.Question{{ID: id}}, 0)
}

// snooze updates the view at once; the gateway's confirmation follows by the feed.
func (s Approvals) snooze(list []protocol.Question, d time.Duration) {
	ids := approvalIDs(list)
	until := int64(0)
	if d > 0 {
		until = time.Now().Add(d).UnixMilli()
	}
	set := func(until int64) {
		s.app.Feed.Questions.Update(func(now *feed.Questions) {
			now.Pending = lists.Map(now.Pending, func(q protocol.Question) protocol.Question {
				if slices.Contains(ids, q.ID) {
					q.Later = until
				}
				return q
			})
		})
	}
	set(until)
	s.app.Tasks.StartRequest(func(ctx context.Context) {
		err := feed.Send(ctx, s.app, protocol.QuestionSnooze, protocol.QuestionSnoozeParams{IDs: ids, For: d.Milliseconds()})
		if err != nil {
			s.app.Tasks.Fail(fmt.Errorf("the approval could not be postponed: %w", err))
			set(0)
		}
	})
}

// Group is an approval together with all pending ones that ask exactly the same.
type Group struct {
	protocol.Question
	All []protocol.Question
	// Later is the time until which a whole group is snoozed, in Unix milliseconds; 0 if it is not.
	Later int64
}

// Inbox returns the pending approvals, with identical ones grouped and snoozed ones last.
func Inbox(v feed.View) []Group {
	var list []Group
	seen := make(map[protocol.QuestionID]bool)
	approvals := v.Questions.Pending.OfCalls()
	for _, q := range approvals {
		if seen[q.ID] {
			continue
		}
		g := Group{Question: q, All: question.Identical(approvals, q), Later: q.Later}
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
