package main

import (
	"context"
	"errors"
	"slices"

	"fairlead/gateway/protocol"
)

// askServerQuestions asks the person the new questions that MCP servers ask during calls of the run.
func (ch *chat) askServerQuestions(ctx context.Context, run protocol.RunID) error {
	r, err := call(ctx, ch.c, protocol.ServerQuestions, protocol.Empty{})
	if err != nil {
		return err
	}
	for _, q := range r.Questions {
		if _, ours := ch.term.calls[q.Call]; !ours || ch.askedServer[q.ID] || ch.stopping {
			continue
		}
		setEntry(&ch.askedServer, q.ID, true)
		if err := ch.askServerQuestion(ctx, run, q); err != nil {
			return err
		}
	}
	return nil
}

func (ch *chat) askServerQuestion(ctx context.Context, run protocol.RunID, q protocol.ServerQuestion) error {
	t := ch.term
	if t.json {
		t.emit("serverQuestion", q)
		return nil
	}
	if !t.interactive() {
		t.newline()
		return serverQuestion(q).print(t.err)
	}
	answer := protocol.ServerAnswerParams{ID: q.ID, Action: "accept"}
	elsewhere, err := ch.readWhileOpen(ctx, run, func(ctx context.Context) (err error) {
		answer.Values, err = t.askFields(ctx, q)
		return err
	}, func(change protocol.Change) string {
		if change.Kind != protocol.ChangeServerQuestions {
			return ""
		}
		r, err := call(ctx, ch.c, protocol.ServerQuestions, protocol.Empty{})
		if err != nil || slices.ContainsFunc(r.Questions, func(open protocol.ServerQuestion) bool { return open.ID == q.ID }) {
			return ""
		}
		return "The question was answered elsewhere, or it expired."
	})
	switch {
	case errors.Is(err, errInterrupt):
		return ch.interrupt(ctx, run)
	case elsewhere:
		return nil
	case errors.Is(err, errDeclined):
		answer.Action, answer.Values = "decline", nil
	case err != nil:
		return err
	}
	_, err = call(ctx, ch.c, protocol.ServerAnswer, answer)
	if errors.Is(err, protocol.ErrNotFound) {
		t.note(err.Error())
		return nil
	}
	return err
}
