package cron

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Limits of an answer's text, in characters.
const (
	maxSummary = 500 // in the history
	maxNotice  = 200 // in a notification
)

// nothingToReport is the answer of a run that has nothing to say, in a job with [protocol.NotifyNews].
const nothingToReport = "NOTHING_TO_REPORT"

const newsPrompt = "(If nothing needs the person's attention, answer " + nothingToReport + " and nothing else.)"

// runner runs jobs in the chats of agents.
type runner struct{ o *Options }

// execute executes a stored run, or continues one of an earlier start: it sends the message if that
// has not happened yet, waits for the agent and delivers the answer. The result is meaningless once
// ctx is cancelled. waiting is called when the agent begins or stops to wait for an approval.
func (x *runner) execute(ctx context.Context, j store.Job, r store.JobRun, waiting func(bool)) outcome {
	limit := time.Duration(j.Spec.TimeoutSeconds) * time.Second
	run := agentRun{session: r.Session, id: r.Run, limit: limit, waiting: waiting}
	answer, problem, err := x.follow(ctx, run, func() error {
		_, err := x.o.Stores.Runs.Get(ctx, r.Run)
		if errors.Is(err, protocol.ErrNotFound) {
			err = x.send(ctx, j, r)
		}
		if errors.Is(err, protocol.ErrUnavailable) {
			<-ctx.Done() // the sessions have stopped, and the scheduler will stop too; the next start resumes the run
		}
		return err
	})
	if err != nil {
		return failedOutcome(err)
	}
	return x.deliver(ctx, j, answer, problem)
}

// deliver delivers the agent's answer. problem says what the run could not do, or is empty.
func (x *runner) deliver(ctx context.Context, j store.Job, answer, problem string) outcome {
	if j.Notifies() == protocol.NotifyNews {
		answer = textWithout(nothingToReport, answer)
	}
	out := outcome{status: protocol.CronOK, summary: cmp.Or(format.Clip(answer, maxSummary), problem, "Nothing to report."), news: format.FirstLine(answer, maxNotice)}
	if problem != "" {
		out.status, out.err = protocol.CronError, problem
	}
	if strings.TrimSpace(answer) == "" || j.Notifies() == protocol.NotifyNever || j.Spec.Deliver != nil && !*j.Spec.Deliver {
		return out
	}
	if problem != "" {
		answer += "\n\n(" + problem + ")"
	}
	d := Delivery{Agent: j.AgentID, Text: answer, Channel: j.Spec.Channel, To: j.Spec.To}
	where, err := x.o.Deliver(ctx, d)
	switch {
	case err == nil && where == "": // nobody writes to the agent over a channel
	case err == nil:
		out.summary += fmt.Sprintf("\n[Delivered to %s]", where)
	case !d.IsAddressed() || j.Spec.BestEffortDeliver != nil && *j.Spec.BestEffortDeliver:
		out.summary += fmt.Sprintf("\n[Not delivered: %s]", err)
	default:
		out.status, out.err = protocol.CronError, strings.TrimSpace(problem+" The answer could not be delivered: "+err.Error())
	}
	return out
}

// send starts the agent's run.
func (x *runner) send(ctx context.Context, j store.Job, r store.JobRun) error {
	text := j.Spec.Text
	if j.Spec.Mode == protocol.CronTask {
		text = j.Spec.Message
		if err := x.prepare(ctx, j, r.Session); err != nil {
			return err
		}
	}
	if j.Notifies() == protocol.NotifyNews {
		text += "\n\n" + newsPrompt
	}
	// This prefix prevents the text from being parsed as a command or as an answer to an approval.
	head := fmt.Sprintf("[Scheduled job %q, %s]", j.Name, time.UnixMilli(r.StartedAt).In(x.o.zone()).Format("Monday, 2 January 2006 15:04 MST"))
	res, err := x.o.Messages.Send(ctx, auth.Schedule(j.Name), protocol.ChatSendParams{SessionKey: r.Session, Message: head + "\n" + text, RunID: r.Run})
	if err != nil {
		return err
	}
	if res.Status != protocol.ChatStarted {
		return fmt.Errorf("the chat did not accept the message: %s %s", res.Status, res.Error)
	}
	return nil
}

// prepare creates the chat of a task, with the settings of the job.
func (x *runner) prepare(ctx context.Context, j store.Job, key protocol.SessionKey) error {
	if _, err := x.o.Chats.Create(ctx, protocol.SessionCreateParams{SessionKey: key, Label: j.Name}); err != nil {
		return err
	}
	manual := "manual" // a reset would hide earlier runs
	patch := protocol.SessionPatchParams{SessionKey: key, ResetPolicy: &protocol.ResetPolicyPatch{Mode: &manual}}
	prefs := protocol.SessionPrefsPatch{}
	if j.Spec.Model != "" {
		provider, id, ok := strings.Cut(j.Spec.Model, "/")
		if !ok {
			provider, id = x.o.Config().Model.Provider, j.Spec.Model
		}
		prefs.Model = &protocol.ModelPatch{Provider: &provider, ID: &id}
	}
	if j.Spec.Thinking != "" {
		prefs.ThinkingLevel = &j.Spec.Thinking
	}
	if prefs != (protocol.SessionPrefsPatch{}) {
		patch.Settings = &prefs
	}
	_, err := x.o.Chats.Patch(ctx, patch)
	return err
}

// expiredText describes the calls of a run that were not made because their approvals expired.
func (x *runner) expiredText(ctx context.Context, run protocol.RunID) (string, error) {
	n, err := x.o.Stores.Questions.ExpiredCount(ctx, run)
	switch {
	case err != nil || n == 0:
		return "", err
	case n == 1:
		return "1 call was not made, because its approval expired.", nil
	}
	return fmt.Sprintf("%d calls were not made, because their approvals expired.", n), nil
}

// agentRun is a run of the agent.
type agentRun struct {
	session protocol.SessionKey
	id      protocol.RunID
	limit   time.Duration // of the working time, without the time in which it waits for approvals; 0 means none
	waiting func(bool)    // called when the run begins or stops to wait for an approval; may be nil
}

// follow calls start, which starts a run if that has not happened yet, and waits for the run's end.
// problem says what the run could not do, or is empty.
func (x *runner) follow(ctx context.Context, run agentRun, start func() error) (answer, problem string, err error) {
	sub := x.o.Bus.SubscribeOnly(func(c protocol.Change) bool {
		return c.Kind == protocol.ChangeRun && c.Run != nil && c.Run.RunID == run.id
	})
	defer sub.Close()
	if err := start(); err != nil {
		return "", "", err
	}
	end, err := x.wait(ctx, run, sub)
	if errors.Is(err, protocol.ErrIncomplete) {
		return end.Answer, err.Error(), nil
	}
	if err == nil {
		problem, err = x.expiredText(ctx, run.id)
	}
	return end.Answer, problem, err
}

// wait waits for the end of a run. A failed or cancelled run is an error.
func (x *runner) wait(ctx context.Context, run agentRun, sub *event.Subscription) (store.Run, error) {
	// The read of one row completes even if ctx is cancelled.
	read := func() (store.Run, error) { return x.o.Stores.Runs.Get(context.WithoutCancel(ctx), run.id) }
	left, stopped, isWaiting := run.limit, false, false
	r, err := read() // it may have ended before the subscription
	for err == nil && r.EndedAt == 0 {
		step, cancel := ctx, context.CancelFunc(func() {})
		if run.limit > 0 && !stopped && !isWaiting {
			step, cancel = context.WithTimeout(ctx, max(left, 0))
		}
		began := time.Now()
		c, nextErr := sub.Next(step)
		cancel()
		if !isWaiting {
			left -= time.Since(began)
		}
		switch {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case nextErr != nil:
			stopped = true
			_, err = x.o.Runs.Cancel(ctx, protocol.ChatCancelParams{SessionKey: run.session, RunID: run.id})
		case c.Kind != protocol.ChangeRun: // a resync: events were lost
			r, err = read()
		case c.Run.Over():
			r, err = read()
			// The published end counts even if it could not be stored.
			r.State, r.EndedAt, r.Error = c.Run.State, c.Run.EndedAt, c.Run.Error
		case (c.Run.State == protocol.RunWaiting) != isWaiting:
			isWaiting = !isWaiting
			if run.waiting != nil {
				run.waiting(isWaiting)
			}
		}
	}
	switch {
	case err != nil:
		return r, err
	case r.State == protocol.RunDone:
		return r, nil
	case stopped:
		return r, fmt.Errorf("it took longer than %s and was stopped", format.Duration(run.limit))
	case r.Error != nil:
		return r, r.Error
	}
	return r, errors.New("it was stopped")
}
