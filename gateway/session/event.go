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

// eventPrincipal marks the rows of runs that answer an event. What follows is on whose behalf the run acts that caused it.
const eventPrincipal = "event "

func isEvent(r store.Run) bool { return strings.HasPrefix(r.Principal, eventPrincipal) }

// maxEvents is how many events of a chat may wait for their turn. A further one has to wait where it comes from.
const maxEvents = 64

// Tell has a chat answer the end of a background command, in the run with the id: after what runs now, before the messages that wait. after is
// the run that started the command. When its agent knows of the end by then, the run is over at once and nobody answers. When it returns without error the event is stored. protocol.ErrConflict: there is such a run already.
// protocol.ErrNotFound: there is no such chat any more. protocol.ErrUnavailable: too many wait, or the gateway stops.
func (m *Manager) Tell(ctx context.Context, chat protocol.SessionKey, run, after protocol.RunID, asked protocol.AskedBy, c protocol.ExecCompletion) error {
	if _, err := m.store.Run(ctx, run); err == nil {
		return protocol.ErrConflict.With(fmt.Sprintf("a run with the id %s exists already", run))
	} else if !errors.Is(err, protocol.ErrNotFound) {
		return err
	}
	s, err := m.store.Session(ctx, chat)
	if err != nil {
		return err
	}
	if s.DeletedAt > 0 {
		return protocol.ErrNotFound.With("The chat was deleted.")
	}
	cause, err := m.store.Run(ctx, after)
	if err != nil && !errors.Is(err, protocol.ErrNotFound) {
		return err
	}
	by := strings.TrimPrefix(strings.TrimPrefix(cause.Principal, eventPrincipal), directPrincipal)
	if err != nil { // the run's row is gone
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

// message is the message that a run answers.
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

// shown is a run's message as windows show it while it waits.
func shown(r store.Run) string {
	if c, ok := message(r).Completion(); ok {
		return c.Words(string(c.NodeID))
	}
	return r.Params.Message
}

// events counts the events that wait.
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
