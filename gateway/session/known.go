package session

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// knows reports whether this chat's agent already knows the news of an event's run, because one of
// its calls ended that command or returned its end. If the journal cannot be read, the answer is
// no.
func (s *session) knows(r store.Run) bool {
	c, ok := message(r).Completion()
	if !ok {
		return false
	}
	looks, err := s.m.store.CallsOnProcess(context.WithoutCancel(s.m.ctx), s.key, c.CallID)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		slog.Warn("It cannot be read what a chat knows of a command", "session", s.key, "call", c.CallID, "err", err)
	}
	return slices.ContainsFunc(looks, func(look store.Call) bool { return tells(look, c) })
}

// seen is the state of one command in a result of the tool Process.
type seen struct {
	SessionID string
	Status    string
}

func (p seen) over() bool {
	return p.Status == "completed" || p.Status == "failed" || p.Status == "timed_out"
}

// tells reports whether a call of Process returned the end of a command. A kill does not count when
// the command had finished by itself before.
func tells(look store.Call, c protocol.ExecCompletion) bool {
	var in struct{ Action string }
	var out struct {
		seen
		Sessions []seen
	}
	if json.Unmarshal(look.Info.Args, &in) != nil || json.Unmarshal(look.ResultJSON, &out) != nil {
		return false
	}
	kill := strings.EqualFold(strings.TrimSpace(in.Action), "kill") && c.Event != protocol.ExecFinished
	return slices.ContainsFunc(append(out.Sessions, out.seen), func(p seen) bool { return p.SessionID == c.SessionID && (p.over() || kill) })
}

// pass finishes an event's run without the agent. The chat gets a notice for people.
func (s *session) pass(r store.Run) error {
	c, _ := message(r).Completion()
	now := s.m.now()
	r.State, r.StartedAt, r.EndedAt = protocol.RunDone, now, now
	stored, err := s.m.store.Runs.Start(context.WithoutCancel(s.m.ctx), r, protocol.Message{
		RunID: r.ID, Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Timestamp: now,
		Content: protocol.Content{protocol.Text(c.Words(string(c.NodeID)))},
	})
	if err != nil {
		return err
	}
	s.m.publishMessage(s.key, stored)
	s.m.track(r).finish(nil)
	return nil
}
