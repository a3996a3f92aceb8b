package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// question asks the person, or answers as --approve says. When the approval is answered elsewhere
// meanwhile, question prints that and stops asking.
func (ch *chat) question(ctx context.Context, a protocol.Question) error {
	t := ch.term
	if a.State != protocol.QuestionPending {
		t.noteAnswer(a)
		return nil
	}
	if ch.stopping {
		return nil // the change of its state follows
	}
	later, known := t.asked[a.ID]
	isPostponed := a.Later != 0 && t.approve == "" && t.interactive()
	switch {
	case isPostponed && a.Later != later: // it is asked again when the delay ends
		setEntry(&t.asked, a.ID, a.Later)
		t.note(fmt.Sprintf("Postponed until %s. You can still answer it: fairlead approvals allow or deny %s.",
			time.UnixMilli(a.Later).Format("15:04"), a.ID))
		return nil
	case known && (later == 0 || a.Later != 0):
		// Print this once, when the first surface failed.
		if a.Unseen == 1 && !a.Shown && !t.interactive() {
			t.note("Waiting for an answer. No window has shown the approval yet.")
		}
		return nil
	}
	setEntry(&t.asked, a.ID, 0)
	if t.json {
		t.emit("approval", a)
	} else {
		t.newline()
		fmt.Fprint(t.err, questionBox(a, t.names[a.Node]))
	}
	answer, isPreset := t.presetAnswer(a)
	switch {
	case isPreset:
		return ch.sendAnswer(ctx, a, answer)
	case !t.interactive():
		t.note("Waiting for an answer in a Fairlead window or another terminal.")
		return nil
	}
	return ch.askInTerminal(ctx, a, answer)
}

// presetAnswer returns the answer to an approval that --approve gives, if it is set. It continues a run
// once: one that repeats itself would go on without end.
func (t *terminal) presetAnswer(a protocol.Question) (answer protocol.QuestionAnswerParams, ok bool) {
	answer = protocol.QuestionAnswerParams{ID: a.ID, Hash: a.Hash, Decision: protocol.DecisionDeny}
	switch {
	case t.approve == protocol.ScopeOnce && a.Kind == protocol.AskContinue && t.went:
		answer.Reason = "--approve once continues a run once"
		t.note("The run ends here: --approve once continues a run once. Send a message to continue.")
	case t.approve == protocol.ScopeOnce:
		t.went = t.went || a.Kind == protocol.AskContinue
		answer.Decision, answer.Scope = protocol.DecisionAllow, protocol.ScopeOnce
	case t.approve == protocol.DecisionDeny:
		answer.Reason = "denied by --approve deny"
	}
	return answer, t.approve != ""
}

// askInTerminal reads the person's answer to an approval, and sends it.
func (ch *chat) askInTerminal(ctx context.Context, a protocol.Question, answer protocol.QuestionAnswerParams) error {
	shown := protocol.QuestionShownParams{ID: a.ID, Surface: protocol.SurfaceTerminal}
	if _, err := call(ctx, ch.c, protocol.QuestionShown, shown); err != nil && !errors.Is(err, protocol.ErrNotFound) {
		return err
	}
	elsewhere, err := ch.readWhileOpen(ctx, a.RunID, func(ctx context.Context) error { return ch.chooseAnswer(ctx, a, &answer) }, func(change protocol.Change) string {
		if q := change.Question; q != nil && q.ID == a.ID && q.State != protocol.QuestionPending {
			return fmt.Sprintf("The approval was %s by %s.", q.State, q.AnsweredBy)
		}
		return ""
	})
	switch {
	case errors.Is(err, errInterrupt):
		return ch.interrupt(ctx, a.RunID)
	case elsewhere:
		return nil
	case errors.Is(err, errPostponed):
		return ch.postponeApproval(ctx, a)
	case err != nil:
		return err
	}
	return ch.sendAnswer(ctx, a, answer)
}

// sendAnswer answers the approval, or all identical ones if the person chose that.
func (ch *chat) sendAnswer(ctx context.Context, a protocol.Question, answer protocol.QuestionAnswerParams) error {
	t := ch.term
	if len(ch.sameAnswer) > 1 {
		for _, q := range ch.sameAnswer {
			setEntry(&t.asked, q.ID, 0)
		}
		return answerSame(ctx, ch.c, t.err, false, ch.sameAnswer, answer)
	}
	res, err := call(ctx, ch.c, protocol.QuestionAnswer, answer)
	if err != nil {
		return err
	}
	if !res.Won {
		delete(t.asked, a.ID)
		t.noteAnswer(res.Question)
	}
	return nil
}

// readWhileOpen runs read, which reads the person's answer to a question, and meanwhile watches
// whether the question is settled elsewhere: then settled returns how. Ctrl+C on the line is
// errInterrupt. A signal from elsewhere stops the run immediately, and a second one ends the program.
func (ch *chat) readWhileOpen(ctx context.Context, run protocol.RunID, read func(context.Context) error, settled func(protocol.Change) string) (elsewhere bool, err error) {
	reading, leave := context.WithCancel(ctx)
	defer leave()
	done := make(chan struct{})
	var readErr error
	crash.Go(func() {
		defer close(done)
		readErr = read(reading)
	})
	for {
		select {
		case <-done:
			return elsewhere, readErr
		case <-ch.sigs:
			if err := ch.interrupt(ctx, run); err != nil {
				leave()
				<-done // the terminal has been restored
				return false, err
			}
		case change := <-ch.changes:
			if how := settled(change); how != "" && !elsewhere {
				elsewhere = true // reading the line cannot be cancelled
				ch.term.note("\r\n" + how + " Press Enter.\r")
				continue
			}
			ch.postponed = append(ch.postponed, change)
		}
	}
}

// errPostponed means that the person postpones an approval.
var errPostponed = errors.New("not now")

// postponeApproval postpones an approval and those that would have got the same answer.
func (ch *chat) postponeApproval(ctx context.Context, a protocol.Question) error {
	list := ch.sameAnswer
	if len(list) == 0 {
		list = []protocol.Question{a}
	}
	for _, q := range list {
		setEntry(&ch.term.asked, q.ID, 0)
	}
	_, err := postpone(ctx, ch.c.Client, list, protocol.SnoozeFor)
	if errors.Is(err, protocol.ErrNotFound) {
		return nil // it has been settled: its change follows
	}
	return err
}

// noteAnswer prints that an approval was answered elsewhere, unless it was asked here.
func (t *terminal) noteAnswer(a protocol.Question) {
	later, known := t.asked[a.ID]
	if known && later == 0 || t.json {
		return
	}
	t.note(fmt.Sprintf("The approval was %s by %s.", a.State, a.AnsweredBy))
}
