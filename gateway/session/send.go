package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session/media"
	"fairlead/gateway/store"
)

// maxMessage limits a message, in bytes. Every page of the chat that a window requests has to hold
// it.
const maxMessage = 8 << 20

// Send accepts a message. When it returns without error, the message is stored or was a command.
func (m *Manager) Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	in.SessionKey = m.Canonical(in.SessionKey)
	if strings.TrimSpace(in.Message) == "" && len(in.Attachments) == 0 {
		return protocol.ChatSendResult{}, protocol.ErrBadRequest.With("sessionKey and message required")
	}
	if err := checkLength(in.Message); err != nil {
		return protocol.ChatSendResult{}, err
	}
	if in.RunID == "" {
		in.RunID = protocol.RunID(protocol.NewID())
	}
	done, err := m.reserve(ctx, in.RunID)
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	defer done()
	if p.Kind == auth.KindOwner {
		if res, ok, err := m.handleOwner(ctx, p, in); ok || err != nil {
			return res, err
		}
	}
	return m.sendToAgent(ctx, p, in)
}

func checkLength(text string) error {
	if len(text) > maxMessage {
		return protocol.ErrTooLarge.With(fmt.Sprintf("the message is too large (%s); put it into a file and name that", format.Size(int64(len(text)))))
	}
	return nil
}

// reserve reserves the ID of a new run until done: processing an attachment such as a recording
// takes time, and the sender may retry meanwhile.
func (m *Manager) reserve(ctx context.Context, id protocol.RunID) (done func(), err error) {
	if _, isBeingSent := m.sending.LoadOrStore(id, true); isBeingSent {
		return nil, errRunExists(id)
	}
	if err := m.checkNewRun(ctx, id); err != nil {
		m.sending.Delete(id)
		return nil, err
	}
	return func() { m.sending.Delete(id) }, nil
}

// handleOwner handles what only the person can send: their own command after "!", a slash command,
// or the answer to an approval. ok is false if the message is for the agent.
func (m *Manager) handleOwner(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (res protocol.ChatSendResult, ok bool, err error) {
	if command, isDirect := strings.CutPrefix(strings.TrimSpace(in.Message), "!"); isDirect && strings.TrimSpace(command) != "" {
		if !p.Has(protocol.ScopeInvoke) {
			return res, false, protocol.ErrForbidden.With("this device may not run commands; write to the agent instead")
		}
		res, err = m.startDirect(ctx, p, in, strings.TrimSpace(command))
		return res, true, err
	}
	if res, ok := m.Command(ctx, p, in.SessionKey, in.Message, len(in.Attachments) > 0); ok {
		return res, true, nil
	}
	if res, ok, err := answerApproval(ctx, m.opts.Questions, p, in); ok || err != nil {
		return res, ok, err
	}
	if in.Remind {
		return remindOfApproval(ctx, m.opts.Questions, in.SessionKey)
	}
	return res, false, nil
}

// sendToAgent stores a message with its files and starts or queues a run for it.
func (m *Manager) sendToAgent(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	files := m.media.Upload()
	defer files.Close()
	blocks, err := upload(ctx, m.ctx, files, in.Attachments)
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	in.Attachments = nil
	row := store.Run{ID: in.RunID, Session: in.SessionKey, Params: in, Images: blocks, Principal: p.String(), CreatedAt: now()}
	_, d := splitDirectives(row)
	var queued bool
	if doErr := m.do(in.SessionKey, func(s *session) { queued, err = s.accept(row) }); doErr != nil {
		return protocol.ChatSendResult{}, doErr
	}
	if err != nil {
		return protocol.ChatSendResult{}, m.pause.onStoreError(err)
	}
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: row.ID, Queued: queued, Directives: m.withProvider(ctx, in.SessionKey, d)}, nil
}

// upload stores attachments until the manager ends. A sender who disconnects while a recording is
// transcribed will not send the message again, so that the end of ctx does not stop it.
func upload(ctx, manager context.Context, files *media.Upload, list []protocol.Attachment) (protocol.Content, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer crash.WhenDone(manager, cancel)()
	return files.Attachments(ctx, list)
}

// withProvider returns a message's settings with the provider of a model that was named without
// one.
func (r *reader) withProvider(ctx context.Context, key protocol.SessionKey, d *protocol.Directives) *protocol.Directives {
	if d == nil || d.Model == nil || d.Model.Provider != "" {
		return d
	}
	s, err := r.peek(ctx, key)
	if err != nil {
		return d
	}
	out := *d
	ref, _ := r.settings.model(s, d)
	out.Model = &ref
	return &out
}

// eventPrincipal prefixes the principal of runs that answer an event. The rest names the principal
// of the run that caused the event.
const eventPrincipal = "event "

func isEvent(r store.Run) bool { return strings.HasPrefix(r.Principal, eventPrincipal) }

// isScheduled reports whether a schedule or the heartbeat started a run.
func isScheduled(r store.Run) bool {
	return askedBy(r.Principal, "", protocol.ModelRef{}).Kind == protocol.AskedBySchedule
}

// maxEvents is the number of events that may wait in one chat. Further ones wait at their source.
const maxEvents = 64

// PostCompletion starts or queues a run, with the given ID, that answers the end of a background
// command, before the queued messages. after is the run that started the command. If the chat's
// agent knows about the end by then, the run finishes without an answer. Errors:
// protocol.ErrConflict for an existing run, protocol.ErrNotFound for a deleted chat,
// protocol.ErrUnavailable when too many events wait.
func (m *Manager) PostCompletion(ctx context.Context, chat protocol.SessionKey, run, after protocol.RunID, askedBy protocol.AskedBy, c protocol.ExecCompletion) error {
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
		by = principalOf(askedBy)
	}
	r := store.Run{
		ID: run, Session: chat, Params: protocol.ChatSendParams{SessionKey: chat, Message: c.Message(), RunID: run, Node: c.NodeID},
		Principal: eventPrincipal + by, CreatedAt: now(),
	}
	if doErr := m.do(chat, func(s *session) {
		if n := len(slices.DeleteFunc(slices.Clone(s.queue), func(r store.Run) bool { return !isEvent(r) })); n >= maxEvents {
			err = protocol.ErrUnavailable.With(fmt.Sprintf("%d events already wait for this chat", n))
			return
		}
		_, err = s.accept(r)
	}); doErr != nil {
		return doErr
	}
	return m.pause.onStoreError(err)
}

// message returns the message that a run answers.
func message(r store.Run) protocol.Message {
	msg := protocol.Message{RunID: r.ID, Role: protocol.RoleUser, Timestamp: r.StartedAt}
	switch {
	case isEvent(r):
		msg.Origin = protocol.OriginEvent
	case isScheduled(r):
		msg.Origin = protocol.OriginSchedule
	}
	if text, _ := splitDirectives(r); text != "" {
		msg.Content = append(msg.Content, protocol.Text(text))
	}
	msg.Content = append(msg.Content, r.Images...)
	return msg
}

// displayText returns a run's message as windows display it while it is queued.
func displayText(r store.Run) string {
	if c, ok := message(r).Completion(); ok {
		return c.Words(string(c.NodeID))
	}
	return r.Params.Message
}

// knowsCompletion reports whether one of the chat's calls ended the command of an event or returned
// its end. If the journal cannot be read, the answer is no.
func (s *session) knowsCompletion(r store.Run) bool {
	c, ok := message(r).Completion()
	if !ok {
		return false
	}
	calls, err := s.m.store.Calls.OnProcess(context.WithoutCancel(s.m.ctx), s.key, c.CallID)
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
	stored, err := s.m.store.Runs.Start(context.WithoutCancel(s.m.ctx), r, notice(r.ID, c.Words(string(c.NodeID))))
	if err != nil {
		return err
	}
	s.m.publishMessage(s.key, stored)
	s.m.runs.track(r).finish(nil)
	return nil
}
