package cron

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// maxSummary limits the text of an answer in the history, in characters.
const maxSummary = 500

// execute executes a stored run, or continues one from an earlier start: it sends the message if
// that has not happened yet, waits for the agent and delivers the answer. The result is meaningless
// once ctx is cancelled. execute calls waiting when the agent begins or stops to wait for an
// approval.
func (s *Scheduler) execute(ctx context.Context, j store.Job, r store.JobRun, waiting func(bool)) outcome {
	watch := s.watch(r.Session, r.Run)
	defer watch.sub.Close()
	watch.waiting = waiting
	_, err := s.o.Store.Runs.Get(ctx, r.Run)
	if errors.Is(err, protocol.ErrNotFound) {
		err = s.send(ctx, j, r)
	}
	if errors.Is(err, protocol.ErrUnavailable) {
		<-ctx.Done() // the sessions have stopped, and the scheduler will stop too; the next start resumes the run
	}
	if err != nil {
		return failed(err)
	}
	end, err := watch.wait(ctx, time.Duration(j.Spec.TimeoutSeconds)*time.Second)
	if err != nil {
		return failed(err)
	}
	answer, err := s.answer(ctx, end)
	if err != nil {
		return failed(err)
	}
	missed, err := s.unanswered(ctx, r.Run)
	if err != nil {
		return failed(err)
	}
	return s.conclude(ctx, j, r, answer, missed)
}

// conclude delivers the agent's answer and returns the run's outcome. missed is the result of
// [Scheduler.unanswered].
func (s *Scheduler) conclude(ctx context.Context, j store.Job, r store.JobRun, answer, missed string) outcome {
	out := outcome{protocol.CronOK, "", cut(answer, maxSummary)}
	if missed != "" {
		out.status, out.err = protocol.CronError, missed
	}
	if strings.TrimSpace(answer) == "" {
		return out
	}
	if missed != "" {
		answer += "\n\n(" + missed + ")"
	}
	if j.Spec.Mode != protocol.CronTask {
		where, err := s.o.Deliver(ctx, Delivery{Agent: j.AgentID, Name: j.Name, Text: answer, From: r.Session, Seen: true})
		switch {
		case err != nil:
			out.summary += fmt.Sprintf("\n[Not delivered: %s]", err)
		case where != "":
			out.summary += fmt.Sprintf("\n[Delivered to %s]", where)
		}
		return out
	}
	if j.Spec.Deliver != nil && !*j.Spec.Deliver {
		return out
	}
	where, err := s.o.Deliver(ctx, Delivery{Agent: j.AgentID, Name: j.Name, Channel: j.Spec.Channel, To: j.Spec.To, Text: answer, From: r.Session})
	switch {
	case err == nil:
		out.summary += fmt.Sprintf("\n[Delivered to %s]", where)
	case j.Spec.BestEffortDeliver != nil && *j.Spec.BestEffortDeliver:
		out.summary += fmt.Sprintf("\n[Not delivered: %s]", err)
	default:
		out.status, out.err = protocol.CronError, strings.TrimSpace(missed+" The answer could not be delivered: "+err.Error())
	}
	return out
}

// send starts the agent's run.
func (s *Scheduler) send(ctx context.Context, j store.Job, r store.JobRun) error {
	text := j.Spec.Text
	if j.Spec.Mode == protocol.CronTask {
		text = j.Spec.Message
		if err := s.prepare(ctx, j, r.Session); err != nil {
			return err
		}
	}
	// This prefix prevents the text from being parsed as a command or as an answer to an approval.
	head := fmt.Sprintf("[Scheduled job %q, %s]", j.Name, time.UnixMilli(r.StartedAt).In(s.zone()).Format("Monday, 2 January 2006 15:04 MST"))
	res, err := s.sessions.Send(ctx, auth.Schedule(j.Name), protocol.ChatSendParams{SessionKey: r.Session, Message: head + "\n" + text, RunID: r.Run})
	if err != nil {
		return err
	}
	if res.Status != protocol.ChatStarted {
		return fmt.Errorf("the message was not taken: %s %s", res.Status, res.Error)
	}
	return nil
}

// prepare creates a chat for the task, with the settings of the job.
func (s *Scheduler) prepare(ctx context.Context, j store.Job, key protocol.SessionKey) error {
	if _, err := s.sessions.Create(ctx, protocol.SessionCreateParams{SessionKey: key, Label: j.Name}); err != nil {
		return err
	}
	prefs := protocol.SessionPrefsPatch{}
	if j.Spec.Model != "" {
		provider, id, ok := strings.Cut(j.Spec.Model, "/")
		if !ok {
			provider, id = s.o.Config().Model.Provider, j.Spec.Model
		}
		prefs.Model = &protocol.ModelPatch{Provider: &provider, ID: &id}
	}
	if j.Spec.Thinking != "" {
		prefs.ThinkingLevel = &j.Spec.Thinking
	}
	if prefs == (protocol.SessionPrefsPatch{}) {
		return nil
	}
	_, err := s.sessions.Patch(ctx, protocol.SessionPatchParams{SessionKey: key, Settings: &prefs})
	return err
}

// answer returns the agent's last message in a run.
func (s *Scheduler) answer(ctx context.Context, r store.Run) (string, error) {
	msgs, err := s.o.Store.Messages.OfRun(ctx, r.ID)
	if err != nil {
		return "", err
	}
	for i := len(msgs) - 1; i >= 0; i-- {
		if m := msgs[i]; m.Role == protocol.RoleAssistant && m.Origin == protocol.OriginPerson && m.Content.Text() != "" {
			return m.Content.Text(), nil
		}
	}
	return "", nil
}

// unanswered describes the calls of a run that were not made because their approvals expired; "" if
// there are none.
func (s *Scheduler) unanswered(ctx context.Context, run protocol.RunID) (string, error) {
	calls, err := s.o.Store.CallsOfRun(ctx, run)
	if err != nil {
		return "", err
	}
	n := 0
	for _, c := range calls {
		if c.Info.State != protocol.CallDenied || c.Info.ApprovalID == "" {
			continue
		}
		q, err := s.o.Store.Approvals.Get(ctx, c.Info.ApprovalID)
		switch {
		case err == nil && q.State == protocol.ApprovalExpired:
			n++
		case err != nil && !errors.Is(err, protocol.ErrNotFound):
			return "", err
		}
	}
	switch n {
	case 0:
		return "", nil
	case 1:
		return "1 call was not made, because nobody answered the question about it in time.", nil
	}
	return fmt.Sprintf("%d calls were not made, because nobody answered the questions about them in time.", n), nil
}

// watcher follows one run of the agent.
type watcher struct {
	s       *Scheduler
	sub     *event.Subscription
	session protocol.SessionKey
	id      protocol.RunID
	waiting func(bool)
}

// watch subscribes to the changes of a run. The caller must close sub.
func (s *Scheduler) watch(session protocol.SessionKey, id protocol.RunID) *watcher {
	sub := s.o.Bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeRun && c.Run != nil && c.Run.RunID == id })
	return &watcher{s: s, sub: sub, session: session, id: id, waiting: func(bool) {}}
}

// wait waits for the end of a run. A failed or cancelled run is an error. limit, if not 0, limits
// the run's working time, without the time in which it waits for approvals.
func (w *watcher) wait(ctx context.Context, limit time.Duration) (store.Run, error) {
	left, stopped, asks := limit, false, false
	var told protocol.RunInfo // the published end, which counts even if it could not be stored
	for {
		// Read the store first: it has an end that came before the subscription, or during a
		// resync. The read of one row completes even if ctx is cancelled.
		r, err := w.s.o.Store.Runs.Get(context.WithoutCancel(ctx), w.id)
		if err != nil {
			return r, err
		}
		if told.Over() {
			r.State, r.EndedAt, r.Error = told.State, told.EndedAt, told.Error
		}
		switch {
		case r.EndedAt == 0:
		case r.State == protocol.RunDone:
			return r, nil
		case stopped:
			return r, fmt.Errorf("it took longer than %s and was stopped", limit)
		case r.Error != nil:
			return r, r.Error
		default:
			return r, errors.New("it was stopped")
		}
		for over := false; !over; {
			step, cancel := ctx, context.CancelFunc(func() {})
			if limit > 0 && !stopped && !asks {
				step, cancel = context.WithTimeout(ctx, max(left, 0))
			}
			began := time.Now()
			c, err := w.sub.Next(step)
			cancel()
			left -= time.Since(began)
			switch {
			case ctx.Err() != nil:
				return r, ctx.Err()
			case err != nil:
				stopped = true
				if _, err := w.s.sessions.Cancel(ctx, protocol.ChatCancelParams{SessionKey: w.session, RunID: w.id}); err != nil {
					return r, err
				}
			case c.Kind == protocol.ChangeRun && !c.Run.Over():
				if now := c.Run.State == protocol.RunWaiting; now != asks {
					asks = now
					w.waiting(asks)
				}
			case c.Kind == protocol.ChangeRun:
				told, over = *c.Run, true
			default: // a resync: events were lost
				over = true
			}
		}
	}
}

// cut shortens s to n characters.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
