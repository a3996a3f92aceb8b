package main

import (
	"context"
	"errors"
	"fmt"

	"fairlead/gateway/protocol"
)

// askServerQuestion asks the person what an MCP server wants to know during a call of the run.
func (ch *chat) askServerQuestion(ctx context.Context, run protocol.RunID, q protocol.Question) error {
	t := ch.term
	if _, ours := t.calls[q.CallID]; !ours || q.State != protocol.QuestionPending || ch.askedServer[q.ID] || ch.stopping {
		return nil
	}
	setEntry(&ch.askedServer, q.ID, true)
	if t.json {
		t.emit("question", q)
		return nil
	}
	if !t.interactive() {
		t.newline()
		return openQuestionOf(q, nil).print(t.err)
	}
	answer := protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow}
	elsewhere, err := ch.readWhileOpen(ctx, run, func(ctx context.Context) (err error) {
		answer.Values, err = t.askFields(ctx, *q.Input)
		return err
	}, func(change protocol.Change) string {
		if now := change.Question; now != nil && now.ID == q.ID && now.State != protocol.QuestionPending {
			return "The question was answered elsewhere, or it expired."
		}
		return ""
	})
	switch {
	case errors.Is(err, errInterrupt):
		return ch.interrupt(ctx, run)
	case elsewhere:
		return nil
	case errors.Is(err, errDeclined):
		answer.Decision, answer.Values = protocol.DecisionDeny, nil
	case err != nil:
		return err
	}
	r, err := call(ctx, ch.c, protocol.QuestionAnswer, answer)
	switch {
	case errors.Is(err, protocol.ErrNotFound):
		t.note(err.Error())
		return nil
	case err == nil && !r.Won:
		t.note(fmt.Sprintf("The question was %s by %s.", r.Question.State, r.Question.AnsweredBy))
	}
	return err
}
