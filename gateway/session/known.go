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

// knowsCompletion reports whether this chat's agent already knows the news of an event's run,
// because one of its calls ended that command or returned its end. If the journal cannot be read,
// the answer is no.
func (s *session) knowsCompletion(r store.Run) bool {
	c, ok := message(r).Completion()
	if !ok {
		return false
	}
	calls, err := s.m.store.CallsOnProcess(context.WithoutCancel(s.m.ctx), s.key, c.CallID)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		slog.Warn("Reading what a chat knows about a command failed", "session", s.key, "call", c.CallID, "err", err)
	}
	return slices.ContainsFunc(calls, func(call store.Call) bool { return returnedEnd(call, c) })
}

// processState is the state of one command in a result of the tool Process.
type processState struct {
	SessionID string
	Status    string
}

func (p processState) ended() bool {
	return p.Status == "completed" || p.Status == "failed" || p.Status == "timed_out"
}

// returnedEnd reports whether a call of Process returned the end of a command. A kill does not
// count when the command had finished by itself before.
func returnedEnd(call store.Call, c protocol.ExecCompletion) bool {
	var in struct{ Action string }
	var out struct {
		processState
		Sessions []processState
	}
	if json.Unmarshal(call.Info.Args, &in) != nil || json.Unmarshal(call.ResultJSON, &out) != nil {
		return false
	}
	kill := strings.EqualFold(strings.TrimSpace(in.Action), "kill") && c.Event != protocol.ExecFinished
	return slices.ContainsFunc(append(out.Sessions, out.processState), func(p processState) bool { return p.SessionID == c.SessionID && (p.ended() || kill) })
}

// finishKnownEvent finishes an event's run without the agent. The chat gets a notice for people.
func (s *session) finishKnownEvent(r store.Run) error {
	c, _ := message(r).Completion()
	at := now()
	r.State, r.StartedAt, r.EndedAt = protocol.RunDone, at, at
	stored, err := s.m.store.Runs.Start(context.WithoutCancel(s.m.ctx), r, notice(r.ID, c.Words(string(c.NodeID))))
	if err != nil {
		return err
	}
	s.m.publishMessage(s.key, stored)
	s.m.runs.track(r).finish(nil)
	return nil
}
