package session

import (
	"context"
	"log/slog"
	"time"

	"fairlead/gateway/cron/when"
	"fairlead/gateway/protocol"
)

// history changes what the model sees of chats: it resets and compacts them, and lists and restores
// their archives. It is safe for concurrent use.
type history struct {
	*reader
	*sessions
	home     string // the data folder
	memories *memories
	models   Models
}

// Reset stops a chat's runs, archives its messages and starts a new session ID. A chat without
// messages only gets a new ID; it is neither stored nor listed because of that.
func (h *history) Reset(ctx context.Context, in protocol.SessionParams) (protocol.SessionResetResult, error) {
	key := h.Canonical(in.SessionKey)
	next := protocol.SessionID(protocol.NewID())
	switch old, exists, err := h.store.Sessions.ResetUnsaved(ctx, key, next, now()); {
	case err != nil:
		return protocol.SessionResetResult{}, h.pause.onStoreError(err)
	case !exists:
		return protocol.SessionResetResult{OK: true, SessionKey: key, OldSessionID: old.ID, NewSessionID: next}, nil
	}
	if err := h.stopAndBlock(ctx, key); err != nil {
		return protocol.SessionResetResult{}, err
	}
	defer h.unblock(key)
	return h.reset(ctx, key)
}

// reset resets a chat that has no runs. Files in media/ stay, because the archive refers to them.
func (h *history) reset(ctx context.Context, key protocol.SessionKey) (protocol.SessionResetResult, error) {
	next := protocol.SessionID(protocol.NewID())
	old, a, err := h.store.Archives.Reset(ctx, key, next, now())
	if err != nil {
		return protocol.SessionResetResult{}, h.pause.onStoreError(err)
	}
	ctx = context.WithoutCancel(ctx) // from here on the reset must be completed
	out := protocol.SessionResetResult{
		OK: true, SessionKey: key, OldSessionID: old.ID, NewSessionID: next, ArchivedMessages: a.Messages, TokensCleared: tokens(old.Usage),
		ArchivedTo: h.writeArchive(ctx, a),
	}
	if err := h.store.Grants.DeleteAll(ctx, key); err != nil {
		return out, h.pause.onStoreError(err)
	}
	h.memories.scan(old, a)
	h.publishHistory(key)
	return out, nil
}

const (
	defaultHour = 4
	defaultIdle = 60 // minutes
)

// isDue reports whether a chat that was last active at a given time must be reset now, according to
// its ResetPolicy. A day begins at AtHour in the person's time zone, also on days when the clock
// changes.
func isDue(p protocol.ResetPolicy, last, now time.Time, zone *time.Location) bool {
	switch p.Mode {
	case "daily":
		hour := defaultHour
		if p.AtHour != nil {
			hour = *p.AtHour
		}
		begin := startOfHour(now.In(zone), 0, hour)
		if begin.After(now) {
			begin = startOfHour(now.In(zone), -1, hour)
		}
		return last.Before(begin)
	case "idle":
		minutes := defaultIdle
		if p.IdleMinutes != nil {
			minutes = *p.IdleMinutes
		}
		return now.Sub(last).Minutes() > float64(minutes) // a time.Duration is limited to 292 years
	}
	return false
}

// startOfHour returns the time of an hour of a day in at's time zone. If the clock skips that hour,
// it returns the time of the skip.
func startOfHour(at time.Time, days, hour int) time.Time {
	t, _ := when.Moment(at.Year(), at.Month(), at.Day()+days, hour, 0, 0, at.Location())
	return t
}

// resetBeforeCommand calls resetWhenDue before the person's own command, which runs in parallel to
// other runs.
func (s *session) resetBeforeCommand() {
	if s.run == nil && s.blocks == 0 && len(s.queue) == 0 {
		s.resetWhenDue()
	}
}

// resetWhenDue resets the chat before a message if its policy says so. It must only be called while
// no run is in progress. If the reset fails, the message is accepted anyway. The chat is not reset
// while a command of the person runs, because its output belongs to the present conversation.
func (s *session) resetWhenDue() {
	if len(s.m.runs.commandsOf(s.key)) > 0 {
		return
	}
	ctx := context.WithoutCancel(s.m.ctx)
	row, err := s.m.store.Sessions.Get(ctx, s.key)
	if err != nil || !isDue(s.m.settings.resetPolicy(row), time.UnixMilli(max(row.LastActiveAt, row.LastResetAt)), time.UnixMilli(now()), s.m.settings.zone()) {
		return
	}
	if _, err := s.m.reset(ctx, s.key); err != nil {
		slog.Error("Resetting a chat by its policy failed", "session", s.key, "err", err)
	}
}
