package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// eventPrincipal prefixes the principal of runs that answer an event. The rest names the principal
// of the run that caused the event.
const eventPrincipal = "event "

func isEvent(r store.Run) bool { return strings.HasPrefix(r.Principal, eventPrincipal) }

// maxEvents is the number of events that may wait in one chat. Further ones wait at their source.
const maxEvents = 64

// PostCompletion starts or queues a run, with the given ID, that answers the end of a background
// command, before the queued messages. after is the run that started the command. If the chat's
// agent knows about the end by then, the run finishes without an answer. Errors:
// protocol.ErrConflict for an existing run, protocol.ErrNotFound for a deleted chat,
// protocol.ErrUnavailable when too many events wait.
func (r *Runs) PostCompletion(ctx context.Context, chat protocol.SessionKey, run, after protocol.RunID, askedBy protocol.AskedBy, c protocol.ExecCompletion) error {
	s, err := r.x.sessions.Get(ctx, chat)
	if err != nil {
		return err
	}
	if s.DeletedAt > 0 {
		return protocol.ErrNotFound.With("The chat was deleted.")
	}
	cause, err := r.x.runs.Get(ctx, after)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		return err
	}
	by := strings.TrimPrefix(strings.TrimPrefix(cause.Principal, eventPrincipal), directPrincipal)
	if err != nil { // the run's row was deleted
		by = principalOf(askedBy)
	}
	row := store.Run{
		ID: run, Session: chat, Params: protocol.ChatSendParams{SessionKey: chat, Message: c.Message(), RunID: run, Node: c.NodeID},
		Principal: eventPrincipal + by, CreatedAt: now(),
	}
	if doErr := r.do(chat, func(s *session) {
		if n := len(slices.DeleteFunc(slices.Clone(s.queue), func(r store.Run) bool { return !isEvent(r) })); n >= maxEvents {
			err = protocol.ErrUnavailable.With(fmt.Sprintf("%d events already wait for this chat", n))
			return
		}
		_, err = s.accept(row)
	}); doErr != nil {
		return doErr
	}
	return r.x.pause.onStoreError(err)
}

// knowsCompletion reports whether one of the chat's calls ended the command of an event or returned
// its end. If the journal cannot be read, the answer is no.
func (s *session) knowsCompletion(r store.Run) bool {
	c, ok := message(r).Completion()
	if !ok {
		return false
	}
	calls, err := s.x.calls.OnProcess(context.WithoutCancel(s.x.workers.Context()), s.key, c.CallID)
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

func (p processState) hasEnded() bool {
	return p.Status == "completed" || p.Status == "failed" || p.Status == "timed_out"
}

// returnedEnd reports whether a call of Process returned the end of a command. A kill does not
// count when the command had finished by itself.
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
	return slices.ContainsFunc(append(out.Sessions, out.processState), func(p processState) bool { return p.SessionID == c.SessionID && (p.hasEnded() || kill) })
}

// finishKnownEvent finishes an event's run without the agent. The chat gets a notice for people.
func (s *session) finishKnownEvent(r store.Run) error {
	c, _ := message(r).Completion()
	at := now()
	r.State, r.StartedAt, r.EndedAt = protocol.RunDone, at, at
	stored, err := s.x.runs.Start(context.WithoutCancel(s.x.workers.Context()), r, notice(r.ID, c.Words(string(c.NodeID))))
	if err != nil {
		return err
	}
	s.x.chats.publishMessage(s.key, stored)
	s.x.track(r, nil).finish(nil)
	return nil
}
