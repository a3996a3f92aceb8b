package session

import (
	"context"
	"fmt"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/session/media"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// maxMessage limits a message, in bytes. Every page of the chat that a window requests has to hold
// it.
const maxMessage = 8 << 20

// Messages accepts what people and other programs write to a chat: messages for the agent,
// commands, and answers to approvals. It is safe for concurrent use.
type Messages struct {
	chats     *Chats
	history   *History
	runs      *Runs
	editor    *Editor
	messages  *store.Messages
	media     *media.Store
	questions *question.Queue
	pause     *pause
	workers   *crash.Workers
}

// Send accepts a message. When it returns without error, the message is stored or was a command.
func (m *Messages) Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	in.SessionKey = m.chats.Canonical(in.SessionKey)
	if strings.TrimSpace(in.Message) == "" && len(in.Attachments) == 0 {
		return protocol.ChatSendResult{}, protocol.ErrBadRequest.With("sessionKey and message required")
	}
	if err := checkLength(in.Message); err != nil {
		return protocol.ChatSendResult{}, err
	}
	if in.RunID == "" {
		in.RunID = protocol.RunID(protocol.NewID())
	}
	done, err := m.runs.reserve(ctx, in.RunID)
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

// handleOwner handles what only the person can send: their own command after "!", a slash command,
// or the answer to an approval. ok is false if the message is for the agent.
func (m *Messages) handleOwner(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (res protocol.ChatSendResult, ok bool, err error) {
	if command, isDirect := strings.CutPrefix(strings.TrimSpace(in.Message), "!"); isDirect && strings.TrimSpace(command) != "" {
		if !p.Has(protocol.ScopeInvoke) {
			return res, false, protocol.ErrForbidden.With("this device may not run commands; write to the agent instead")
		}
		res, err = m.runs.startDirect(ctx, p, in, strings.TrimSpace(command))
		return res, true, err
	}
	if res, ok := m.Command(ctx, p, in.SessionKey, in.Message, len(in.Attachments) > 0); ok {
		return res, true, nil
	}
	if res, ok, err := answerApproval(ctx, m.questions, p, in); ok || err != nil {
		return res, ok, err
	}
	if in.Remind {
		return remindOfApproval(ctx, m.questions, in.SessionKey)
	}
	return res, false, nil
}

// sendToAgent stores a message with its files and starts or queues a run for it.
func (m *Messages) sendToAgent(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	files := m.media.Upload()
	defer files.Close()
	blocks, err := upload(ctx, m.workers.Context(), files, in.Attachments)
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	in.Attachments = nil
	row := store.Run{ID: in.RunID, Session: in.SessionKey, Params: in, Images: blocks, Principal: p.String(), CreatedAt: now()}
	_, d := splitDirectives(row)
	var queued bool
	if doErr := m.runs.do(in.SessionKey, func(s *session) { queued, err = s.accept(row) }); doErr != nil {
		return protocol.ChatSendResult{}, doErr
	}
	if err != nil {
		return protocol.ChatSendResult{}, m.pause.onStoreError(err)
	}
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: row.ID, Queued: queued, Directives: m.chats.withProvider(ctx, in.SessionKey, d)}, nil
}

// upload stores attachments until the gateway stops. A sender who disconnects while a recording is
// transcribed will not send the message again, so that the end of ctx does not stop it.
func upload(ctx, gateway context.Context, files *media.Upload, list []protocol.Attachment) (protocol.Content, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer crash.WhenDone(gateway, cancel)()
	return files.Attachments(ctx, list)
}

// StoreToolResult stores the result of a call that a client requested for a session (tool.request,
// docs/protocol.md#tools-and-calls).
func (m *Messages) StoreToolResult(ctx context.Context, key protocol.SessionKey, r tool.Result) error {
	info := r.Info
	info.Tail = "" // it is part of the content
	files := m.media.Upload()
	defer files.Close()
	content := files.Images(r.Content)
	stored, err := m.messages.Append(ctx, m.chats.Canonical(key), protocol.Message{
		Role: protocol.RoleToolResult, Origin: protocol.OriginDirect, ToolCallID: string(info.CallID),
		ToolName: protocol.NewToolName(info.Node, info.Tool), IsError: r.IsError, Call: &info, Content: content, Timestamp: now(),
	})
	if err != nil {
		return m.pause.onStoreError(err)
	}
	m.chats.publishMessage(m.chats.Canonical(key), stored[0])
	m.chats.publishSession(m.chats.Canonical(key))
	return nil
}

// Media returns a stored picture or recording.
func (m *Messages) Media(_ context.Context, in protocol.MediaGetParams) (protocol.MediaGetResult, error) {
	return m.media.Get(in.Key)
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

// isScheduled reports whether a schedule or the heartbeat started a run.
func isScheduled(r store.Run) bool {
	return askedBy(r.Principal, "", protocol.ModelRef{}).Kind == protocol.AskedBySchedule
}
