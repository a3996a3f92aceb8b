package session

import (
	"context"
	"log/slog"
	"time"

	"fairlead/gateway/cron/when"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Reset stops a chat's runs, archives its messages and starts a new session ID. A chat without
// messages only gets a new ID; it is neither stored nor listed because of that.
func (m *Manager) Reset(ctx context.Context, in protocol.SessionParams) (protocol.SessionResetResult, error) {
	key := m.Canonical(in.SessionKey)
	next := protocol.SessionID(protocol.NewID())
	switch old, made, err := m.store.Sessions.ResetUnsaved(ctx, key, next, m.now()); {
	case err != nil:
		return protocol.SessionResetResult{}, m.stored(err)
	case !made:
		return protocol.SessionResetResult{OK: true, SessionKey: key, OldSessionID: old.ID, NewSessionID: next}, nil
	}
	if err := m.quiet(ctx, key); err != nil {
		return protocol.SessionResetResult{}, err
	}
	defer m.unblock(key)
	return m.reset(ctx, key)
}

// reset resets a chat that has no runs. Files in media/ stay, because the archive refers to them.
func (m *Manager) reset(ctx context.Context, key protocol.SessionKey) (protocol.SessionResetResult, error) {
	next := protocol.SessionID(protocol.NewID())
	old, a, err := m.store.Archives.Reset(ctx, key, next, m.now())
	if err != nil {
		return protocol.SessionResetResult{}, m.stored(err)
	}
	ctx = context.WithoutCancel(ctx) // from here on the reset must be completed
	out := protocol.SessionResetResult{
		OK: true, SessionKey: key, OldSessionID: old.ID, NewSessionID: next, ArchivedMessages: a.Messages, TokensCleared: tokens(old.Usage),
		ArchivedTo: m.keepArchive(ctx, a),
	}
	if err := m.store.Grants.DeleteAll(ctx, key); err != nil {
		return out, m.stored(err)
	}
	m.remember(old, a)
	m.bus.Publish(protocol.Change{Kind: protocol.ChangeHistory, SessionKey: key})
	m.publishSession(key)
	return out, nil
}

const (
	defaultHour = 4
	defaultIdle = 60
)

// policy returns the chat's own reset policy, or the gateway's.
func (m *Manager) policy(s store.Session) protocol.ResetPolicy {
	p := s.ResetPolicy
	if p.Mode == "" {
		p = m.opts.Config().Session.DefaultResetPolicy
	}
	if p.Mode == "" {
		p.Mode = "manual"
	}
	return p
}

// due reports whether a chat that was last active at a given time must be reset now, according to
// its ResetPolicy. A day begins at AtHour in the person's time zone, also on days when the clock
// changes.
func due(p protocol.ResetPolicy, last, now time.Time, zone *time.Location) bool {
	switch p.Mode {
	case "daily":
		hour := defaultHour
		if p.AtHour != nil {
			hour = *p.AtHour
		}
		begin := hourOf(now.In(zone), 0, hour)
		if begin.After(now) {
			begin = hourOf(now.In(zone), -1, hour)
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

// hourOf returns the time of an hour of a day in at's time zone. If the clock skips that hour, it
// returns the time of the skip.
func hourOf(at time.Time, days, hour int) time.Time {
	t, _ := when.Moment(at.Year(), at.Month(), at.Day()+days, hour, 0, 0, at.Location())
	return t
}

// zone returns the person's time zone.
func (m *Manager) zone() *time.Location {
	if zone, err := time.LoadLocation(m.opts.Config().UserTimezone); err == nil {
		return zone
	}
	return time.Local
}

// freshen calls resetWhenDue before the person's own command, which runs in parallel to other runs.
func (s *session) freshen() {
	if s.run == nil && s.block == 0 && len(s.queue) == 0 {
		s.resetWhenDue()
	}
}

// resetWhenDue resets the chat before a message if its policy says so. It must only be called while
// no run is in progress. If the reset fails, the message is accepted anyway. The chat is not reset
// while a command of the person runs, because its output belongs to the present conversation.
func (s *session) resetWhenDue() {
	if len(s.m.directOf(s.key)) > 0 {
		return
	}
	ctx := context.WithoutCancel(s.m.ctx)
	ses, err := s.m.store.Sessions.Get(ctx, s.key)
	if err != nil || !due(s.m.policy(ses), time.UnixMilli(max(ses.LastActiveAt, ses.LastResetAt)), time.UnixMilli(s.m.now()), s.m.zone()) {
		return
	}
	if _, err := s.m.reset(ctx, s.key); err != nil {
		slog.Error("A chat could not begin afresh by itself", "session", s.key, "err", err)
	}
}

// quiet cancels all runs of a session and prevents new ones from starting until unblock.
func (m *Manager) quiet(ctx context.Context, key protocol.SessionKey) error {
	var wait []<-chan struct{}
	if err := m.do(ctx, key, func(s *session) { s.block++; wait = s.clear() }); err != nil {
		return err
	}
	for _, done := range wait {
		select {
		case <-done:
		case <-ctx.Done():
			m.unblock(key)
			return ctx.Err()
		}
	}
	return nil
}

func (m *Manager) unblock(key protocol.SessionKey) {
	m.do(context.WithoutCancel(m.ctx), key, func(s *session) { s.block--; s.next() })
}
