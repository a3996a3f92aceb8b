package state

import (
	"context"
	"fmt"

	"fairlead/app/feed"
	"fairlead/app/question"
	"fairlead/gateway/protocol"
)

// Questions answers the questions other than approvals.
type Questions struct{ app *App }

// Answer answers a question, which leaves the view at once and returns after a failure.
func (s Questions) Answer(q protocol.Question, p protocol.QuestionAnswerParams) {
	p.ID, p.Hash = q.ID, q.Hash
	s.app.Feed.Questions.Update(func(now *feed.Questions) { now.StartAnswer(q.ID) })
	s.app.Tasks.StartRequest(func(ctx context.Context) {
		r, err := feed.Call(ctx, s.app, protocol.QuestionAnswer, p)
		switch {
		case err != nil:
			s.app.Tasks.Fail(fmt.Errorf("your answer was not accepted: %w", err))
			if now, err := feed.Call(ctx, s.app, protocol.QuestionGet, protocol.QuestionParams{ID: q.ID}); err == nil {
				q = now
			}
			s.app.Feed.Questions.Update(func(now *feed.Questions) { now.EndAnswer([]protocol.QuestionID{q.ID}, q) })
		case !r.Won:
			s.app.Notify("info", "This question was already answered: "+question.OutcomeText(r.Question)+".")
		}
	})
}
