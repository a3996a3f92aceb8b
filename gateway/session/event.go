package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// eventPrincipal prefixes the principal of runs that answer an event. The rest names the principal
// of the run that caused the event.
const eventPrincipal = "event "

func isEvent(r store.Run) bool { return strings.HasPrefix(r.Principal, eventPrincipal) }

// maxEvents is the number of events that may wait in one chat. Further ones are refused and have to
// wait at their source.
const maxEvents = 64

// PostCompletion starts or queues a run, with the given ID, that answers the end of a background command:
// after the current run, before the queued messages. after is the run that started the command. If
// the chat's agent knows about the end when the run's turn comes, the run finishes at once without
// an answer. When PostCompletion returns without error the event is stored. Errors: protocol.ErrConflict for
// an existing run, protocol.ErrNotFound for a deleted chat, protocol.ErrUnavailable when too many
// events wait or the gateway is stopping.
func (m *Manager) PostCompletion(ctx context.Context, chat protocol.SessionKey, run, after protocol.RunID, asked protocol.AskedBy, c protocol.ExecCompletion) error {
	if _, err := m.store.Runs.Get(ctx, run); err == nil {
		return protocol.ErrConflict.With(fmt.Sprintf("a run with the id %s exists already", run))
	} else if !errors.Is(err, protocol.ErrNotFound) {
		return err
	}
	s, err := m.store.Sessions.Get(ctx, chat)
	if err != nil {
		return err
	}
	if s.DeletedAt > 0 {
		return protocol.ErrNotFound.With("The chat was deleted.")
	}
	cause, err := m.store.Runs.Get(ctx, after)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		return err
	}
	by := strings.TrimPrefix(strings.TrimPrefix(cause.Principal, eventPrincipal), directPrincipal)
	if err != nil { // the run's row was deleted
		by = principalOf(asked)
	}
	r := store.Run{
		ID: run, Session: chat, Params: protocol.ChatSendParams{SessionKey: chat, Message: c.Message(), RunID: run, Node: c.NodeID},
		Principal: eventPrincipal + by, CreatedAt: m.now(),
	}
	if doErr := m.do(ctx, chat, func(s *session) {
		if waiting := s.events(); waiting >= maxEvents {
			err = protocol.ErrUnavailable.With(fmt.Sprintf("%d events wait for this chat already", waiting))
			return
		}
		_, err = s.accept(r)
	}); doErr != nil {
		return doErr
	}
	return m.stored(err)
}

// message returns the message that a run answers.
func message(r store.Run) protocol.Message {
	msg := protocol.Message{RunID: r.ID, Role: protocol.RoleUser, Timestamp: r.StartedAt}
	if isEvent(r) {
		msg.Origin = protocol.OriginEvent
	}
	if text, _ := settingsOf(r); text != "" {
		msg.Content = append(msg.Content, protocol.Text(text))
	}
	msg.Content = append(msg.Content, r.Images...)
	return msg
}

// shown returns a run's message as windows display it while it is queued.
func shown(r store.Run) string {
	if c, ok := message(r).Completion(); ok {
		return c.Words(string(c.NodeID))
	}
	return r.Params.Message
}

// events counts the queued events.
func (s *session) events() (n int) {
	for _, r := range s.queue {
		if isEvent(r) {
			n++
		}
	}
	return n
}

// enqueue appends a run to the queue. Events go before messages, as in the original system.
func (s *session) enqueue(r store.Run) {
	at := len(s.queue)
	if isEvent(r) {
		if first := slices.IndexFunc(s.queue, func(q store.Run) bool { return !isEvent(q) }); first >= 0 {
			at = first
		}
	}
	s.queue = slices.Insert(slices.Clone(s.queue), at, r)
}
