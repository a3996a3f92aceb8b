package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/protocol"
)

// question asks the person, or answers as --approve says. When the approval is answered elsewhere
// meanwhile, question prints that and stops asking.
func (ch *chat) question(ctx context.Context, a protocol.Approval) error {
	t := ch.term
	if a.State != protocol.ApprovalPending {
		t.noteAnswer(a)
		return nil
	}
	if ch.stopping {
		return nil // the change of its state follows
	}
	if t.questions[a.ID] && !t.hasReturned(a) {
		// Print this once, when the first surface failed.
		if a.Unseen == 1 && !a.Shown && !t.interactive() {
			t.note("Waiting for an answer. No window has shown the approval yet.")
		}
		return nil
	}
	if a.Later != 0 && t.approve == "" && t.interactive() {
		t.notePostponed(a)
		return nil
	}
	setEntry(&t.questions, a.ID, true)
	answer := protocol.ApprovalAnswerParams{ID: a.ID, Hash: a.Hash, Decision: protocol.DecisionDeny}
	if t.json {
		t.emit("approval", a)
	} else {
		t.newline()
		fmt.Fprint(t.err, questionBox(a, t.names[a.Node]))
	}
	switch {
	case t.approve == protocol.ScopeOnce:
		answer.Decision, answer.Scope = protocol.DecisionAllow, protocol.ScopeOnce
	case t.approve == protocol.DecisionDeny:
		answer.Reason = "denied by --approve deny"
	case !t.interactive():
		t.note("Waiting for an answer in a Fairlead window or another terminal.")
		return nil
	default:
		shown := protocol.ApprovalShownParams{ID: a.ID, Surface: protocol.SurfaceTerminal}
		if _, err := call(ctx, ch.c, protocol.ApprovalShown, shown); err != nil && !errors.Is(err, protocol.ErrNotFound) {
			return err
		}
		var elsewhere bool
		var err error
		if answer, elsewhere, err = ch.readAnswer(ctx, a, answer); errors.Is(err, errInterrupt) {
			return ch.interrupt(ctx, a.RunID)
		} else if elsewhere {
			return nil
		} else if errors.Is(err, errPostponed) {
			return ch.postponeApproval(ctx, a)
		} else if err != nil {
			return err
		}
	}
	return ch.sendAnswer(ctx, a, answer)
}

// sendAnswer answers the approval, or all identical ones if the person chose that.
func (ch *chat) sendAnswer(ctx context.Context, a protocol.Approval, answer protocol.ApprovalAnswerParams) error {
	t := ch.term
	if len(ch.sameAnswer) > 1 {
		for _, q := range ch.sameAnswer {
			setEntry(&t.questions, q.ID, true)
		}
		return answerSame(ctx, ch.c, t.err, false, ch.sameAnswer, answer)
	}
	res, err := call(ctx, ch.c, protocol.ApprovalAnswer, answer)
	if err != nil {
		return err
	}
	if !res.Won {
		delete(t.questions, a.ID)
		t.noteAnswer(res.Approval)
	}
	return nil
}

// readAnswer reads the person's answer and meanwhile watches whether the approval is settled
// elsewhere. Ctrl+C on the line is errInterrupt. A signal from elsewhere stops the run immediately,
// and a second one ends the program.
func (ch *chat) readAnswer(ctx context.Context, a protocol.Approval, answer protocol.ApprovalAnswerParams) (_ protocol.ApprovalAnswerParams, elsewhere bool, err error) {
	reading, leave := context.WithCancel(ctx)
	defer leave()
	done := make(chan struct{})
	var readErr error
	go func() {
		defer close(done)
		readErr = ch.chooseAnswer(reading, a, &answer)
	}()
	for {
		select {
		case <-done:
			return answer, elsewhere, readErr
		case <-ch.sigs:
			if err := ch.interrupt(ctx, a.RunID); err != nil {
				leave()
				<-done // the terminal has been restored
				return answer, false, err
			}
		case change := <-ch.changes:
			if q := change.Approval; q != nil && q.ID == a.ID && q.State != protocol.ApprovalPending && !elsewhere {
				elsewhere = true // reading the line cannot be cancelled
				ch.term.note(fmt.Sprintf("\r\nThe approval was %s by %s. Press Enter.\r", q.State, q.AnsweredBy))
				continue
			}
			ch.postponed = append(ch.postponed, change)
		}
	}
}

// errPostponed means that the person postpones an approval.
var errPostponed = errors.New("not now")

// postponeApproval postpones an approval and those that would have got the same answer.
func (ch *chat) postponeApproval(ctx context.Context, a protocol.Approval) error {
	list := ch.sameAnswer
	if len(list) == 0 {
		list = []protocol.Approval{a}
	}
	for _, q := range list {
		setEntry(&ch.term.questions, q.ID, true)
	}
	_, err := postpone(ctx, ch.c.Client, list, protocol.SnoozeFor)
	if errors.Is(err, protocol.ErrNotFound) {
		return nil // it has been settled: its change follows
	}
	return err
}

// notePostponed prints once that an approval is postponed; it is asked again when the delay ends.
func (t *terminal) notePostponed(a protocol.Approval) {
	setEntry(&t.questions, a.ID, true)
	setEntry(&t.delays, a.ID, a.Later)
	t.note("Postponed until " + time.UnixMilli(a.Later).Format("15:04") + ". You can still answer it: fairlead approvals allow or deny " + string(a.ID) + ".")
}

// hasReturned reports whether a postponed approval must be asked again, and records a new delay.
func (t *terminal) hasReturned(a protocol.Approval) bool {
	was, isDelayed := t.delays[a.ID]
	switch {
	case isDelayed && a.Later == 0:
		delete(t.delays, a.ID)
		delete(t.questions, a.ID)
		return true
	case a.Later != 0 && a.Later != was && t.interactive() && t.approve == "":
		t.notePostponed(a)
	}
	return false
}

// noteAnswer prints that an approval was answered elsewhere, unless it was asked here.
func (t *terminal) noteAnswer(a protocol.Approval) {
	_, isDelayed := t.delays[a.ID]
	if t.questions[a.ID] && !isDelayed || t.json {
		return
	}
	t.note(fmt.Sprintf("The approval was %s by %s.", a.State, a.AnsweredBy))
}
