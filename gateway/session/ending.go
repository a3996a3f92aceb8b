package session

import (
	"context"
	"errors"
	"log/slog"

	"fairlead/gateway/protocol"
)

// finish stores the end of a run and publishes it: exactly once, with one terminal chat event.
func (l *live) finish(err error) {
	l.m.mu.Lock()
	if l.m.live[l.run.ID] != l {
		l.m.mu.Unlock()
		return
	}
	delete(l.m.live, l.run.ID)
	l.m.mu.Unlock()

	l.mu.Lock()
	l.info.EndedAt, l.info.Notice = l.m.now(), ""
	l.forgetSaid()
	switch {
	case err == nil:
		l.info.State = protocol.RunDone
	case errors.Is(err, errCancelled):
		l.info.State = protocol.RunCancelled
	default:
		l.info.State, l.info.Error = protocol.RunFailed, protocol.AsError(err)
	}
	info := l.info
	l.mu.Unlock()

	ctx := context.WithoutCancel(l.m.ctx)
	r := l.run
	r.State, r.EndedAt, r.Step, r.Error = info.State, info.EndedAt, info.Step, info.Error
	if storeErr := l.m.stored(l.m.store.Runs.Put(ctx, r)); storeErr != nil {
		slog.Error("A run's end could not be stored", "run", r.ID, "err", storeErr)
	}
	if err != nil && !errors.Is(err, protocol.ErrStorage) && !isDirect(r) {
		l.note(ctx, info)
	}
	l.m.bus.Publish(protocol.Change{Kind: protocol.ChangeRun, SessionKey: info.SessionKey, Run: &info})
	l.m.publishSession(info.SessionKey)
	switch {
	case err != nil:
		l.chat(protocol.ChatEvent{State: protocol.ChatErrState, Error: err.Error()})
	default:
		l.chat(protocol.ChatEvent{State: protocol.ChatFinal, Message: l.answer(ctx)})
	}
}

// note adds a notice about a failed or cancelled run to the conversation. Only people see it, not
// the model.
func (l *live) note(ctx context.Context, info protocol.RunInfo) {
	text := "Stopped."
	if info.Error != nil {
		text = info.Error.Message
	}
	if l.run.StartedAt == 0 && info.State == protocol.RunCancelled {
		return // the run was still queued
	}
	m := protocol.Message{RunID: l.run.ID, Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text(text)}, Timestamp: l.m.now()}
	if info.Error != nil {
		m.StopReason, m.ErrorMessage = "error", info.Error.Message
	}
	if _, err := l.Append(ctx, m); err != nil {
		slog.Error("A notice could not be stored", "run", l.run.ID, "err", err)
	}
}

// answer returns the run's last message.
func (l *live) answer(ctx context.Context) *protocol.Message {
	msgs, err := l.m.store.Messages.OfRun(ctx, l.run.ID)
	if err != nil || len(msgs) == 0 {
		return &protocol.Message{RunID: l.run.ID, Role: protocol.RoleAssistant, Content: protocol.Content{}, Timestamp: l.m.now()}
	}
	return &msgs[len(msgs)-1]
}
