package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// maxChatEvents is the number of chat events that can wait; later ones are dropped.
const maxChatEvents = 4096

// addEvent queues a chat event of a gateway without a feed, as [client.Options.OnEvent].
func (ch *chat) addEvent(e protocol.EventFrame) {
	var event protocol.ChatEvent
	if e.Event != protocol.EventChat || json.Unmarshal(e.Payload, &event) != nil {
		return
	}
	select {
	case ch.events <- event:
	default:
	}
}

// refuseOwnCommand refuses a command that only Fairlead has: another gateway would pass it to the
// model as a message.
func refuseOwnCommand(message string) error {
	words := strings.Fields(strings.ToLower(message))
	switch {
	case strings.HasPrefix(message, "!"):
		return &exitError{code: exitFailed, err: errors.New("this gateway does not support commands that start with !; use fairlead tools call instead")}
	case len(words) > 0 && words[0] == "/mode", len(words) > 1 && words[0] == "/compact" && words[1] == "undo":
		return &exitError{code: exitFailed, err: fmt.Errorf("this gateway does not support %s; a Fairlead gateway of the current version does", strings.Join(words[:min(len(words), 2)], " "))}
	}
	return nil
}

// specRun follows a run by its chat events (docs/protocol.md#chat).
type specRun struct {
	chat    *chat
	id      protocol.RunID
	step    int // model step, from 1
	written int // bytes of its text so far
}

// followSpec shows a run until it is over or the connection, and with it the events, are lost.
func (ch *chat) followSpec(ctx context.Context, id protocol.RunID) error {
	r := &specRun{chat: ch, id: id, step: 1}
	ch.stopping = false
	ups := ch.c.logins.Load()
	look := time.Tick(time.Second)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ch.sigs:
			if err := ch.interrupt(ctx, id); err != nil {
				return err
			}
		case <-look:
			if !ch.c.Connected() || ch.c.logins.Load() != ups {
				return protocol.ErrUnavailable.With("the connection was lost, and this gateway does not repeat missed events; the answer will be in the chat")
			}
		case e := <-ch.events:
			if over, err := r.show(ctx, e); over || err != nil {
				return err
			}
		}
	}
}

func (r *specRun) show(ctx context.Context, e protocol.ChatEvent) (over bool, err error) {
	if e.RunID != nil && *e.RunID != r.id || e.RunID == nil && e.SessionKey != r.chat.session {
		return false, nil
	}
	if e.Text != "" {
		r.chat.term.delta(protocol.Delta{RunID: r.id, Step: r.step, Offset: r.written, Text: e.Text})
		r.written += len(e.Text)
	}
	if m := e.Message; m != nil {
		m.Role = protocol.RoleAssistant
		r.chat.term.message(*m)
		r.step, r.written = r.step+1, 0
	}
	switch e.State {
	case protocol.ChatWaiting:
		return false, r.answer(ctx)
	case protocol.ChatFinal:
		return true, r.chat.term.finish(protocol.RunInfo{RunID: r.id, SessionKey: r.chat.session, State: protocol.RunDone})
	case protocol.ChatErrState:
		run := protocol.RunInfo{RunID: r.id, SessionKey: r.chat.session, State: protocol.RunFailed, Error: protocol.ErrInternal.With(e.Error)}
		if r.chat.stopping {
			run.State = protocol.RunCancelled
		}
		return true, r.chat.term.finish(run)
	}
	return false, nil
}

// answer asks the person whether the call may run, and sends the answer as a "yes" or "no" in the
// chat, as such a gateway expects.
func (r *specRun) answer(ctx context.Context) error {
	reply := map[string]string{protocol.ScopeOnce: "yes", protocol.DecisionDeny: "no"}[r.chat.term.approve]
	if reply == "" && !r.chat.term.interactive() {
		return &exitError{code: exitDenied, err: errors.New("a call needs your approval: answer with \"fairlead chat yes\" or \"fairlead chat no\", or use --approve")}
	}
	if reply == "" {
		line, err := r.chat.term.readMessage(ctx, "Allow? yes or no: ")
		if err != nil {
			return err
		}
		reply = strings.TrimSpace(line)
	}
	res, err := call(ctx, r.chat.c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: r.chat.session, Message: reply})
	if err != nil {
		return err
	}
	r.chat.term.denied = r.chat.term.denied || strings.HasPrefix(strings.ToLower(reply), "n")
	r.chat.term.note(res.Response)
	return nil
}
