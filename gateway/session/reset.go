package session

import (
	"context"
	"log/slog"
	"time"

	"fairlead/gateway/cron/when"
	"fairlead/gateway/protocol"
)

// reset resets a chat that has no runs. Files in media/ stay, because the archive refers to them.
func (h *History) reset(ctx context.Context, key protocol.SessionKey) (protocol.SessionResetResult, error) {
	next := protocol.SessionID(protocol.NewID())
	old, a, err := h.archives.Reset(ctx, key, next, now())
	if err != nil {
		return protocol.SessionResetResult{}, h.pause.onStoreError(err)
	}
	ctx = context.WithoutCancel(ctx) // from here on the reset must be completed
	out := protocol.SessionResetResult{
		OK: true, SessionKey: key, OldSessionID: old.ID, NewSessionID: next, ArchivedMessages: a.Messages, TokensCleared: tokens(old.Usage),
		ArchivedTo: h.files.write(ctx, a),
	}
	h.memories.saveReset(old, a)
	h.chats.publishHistory(key)
	return out, nil
}

const (
	defaultHour = 4
	defaultIdle = 60 // minutes
)

// isDue reports whether a chat must be reset according to its ResetPolicy. A day begins at AtHour
// in the person's time zone, also on days when the clock changes.
func isDue(p protocol.ResetPolicy, last, now time.Time, zone *time.Location) bool {
	switch p.Mode {
	case "daily":
		hour := defaultHour
		set(&hour, p.AtHour)
		begin := startOfHour(now.In(zone), 0, hour)
		if begin.After(now) {
			begin = startOfHour(now.In(zone), -1, hour)
		}
		return last.Before(begin)
	case "idle":
		minutes := defaultIdle
		set(&minutes, p.IdleMinutes)
		return now.Sub(last).Minutes() > float64(minutes) // a time.Duration is limited to 292 years
	}
	return false
}

// startOfHour returns the time of an hour of a day, or of the skip if the clock skips that hour.
func startOfHour(at time.Time, days, hour int) time.Time {
	t, _ := when.Moment(at.Year(), at.Month(), at.Day()+days, hour, 0, 0, at.Location())
	return t
}

// resetWhenDue resets the chat before a message if its policy says so. If that fails, the message
// is accepted anyway. The output of a running command of the person belongs to the present
// conversation.
func (s *session) resetWhenDue() {
	if len(s.x.active.commandsOf(s.key)) > 0 {
		return
	}
	ctx := context.WithoutCancel(s.x.workers.Context())
	row, err := s.x.sessions.Get(ctx, s.key)
	if err != nil || !isDue(s.x.chats.settings.resetPolicy(row), time.UnixMilli(max(row.LastActiveAt, row.LastResetAt)), time.UnixMilli(now()), s.x.chats.settings.zone()) {
		return
	}
	if _, err := s.x.history.reset(ctx, s.key); err != nil {
		slog.Error("Resetting a chat by its policy failed", "session", s.key, "err", err)
	}
}
