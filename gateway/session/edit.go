package session

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

var (
	errNotInChat    = protocol.ErrNotFound.With("The message is no longer in this chat, or a summary has replaced it.")
	errNotAPersons  = protocol.ErrBadRequest.With("only a message of yours, or an answer to one, can be sent again")
	errOwnCommand   = protocol.ErrConflict.With("A command of yours is still running in this chat. Wait for it or stop it first.")
	errStarting     = protocol.ErrUnavailable.With("The gateway is still starting. Try again in a moment.")
	errStillWriting = protocol.ErrConflict.With("This answer is still being written. Wait for it or stop it first.")
)

// Resend replaces a message of the person and everything after it, and starts a run that answers it.
func (m *Manager) Resend(ctx context.Context, p auth.Principal, in protocol.ChatResendParams) (out protocol.ChatResendResult, err error) {
	if p.Kind != auth.KindOwner {
		return out, protocol.ErrForbidden.With("only the person can send a message again")
	}
	in.SessionKey = m.Canonical(in.SessionKey)
	out.RunID = cmp.Or(in.RunID, protocol.RunID(protocol.NewID()))
	done, err := m.reserve(ctx, out.RunID)
	if err != nil {
		return out, err
	}
	defer done()
	files := m.media.Upload()
	defer files.Close()
	old, err := m.question(ctx, in.SessionKey, in.MessageID)
	if err != nil {
		return out, err
	}
	row, err := resent(old, in)
	if err != nil {
		return out, err
	}
	if in.Attachments != nil {
		if row.Images, err = upload(ctx, m.ctx, files, *in.Attachments); err != nil {
			return out, err
		}
	}
	row.ID, row.Params.RunID, row.Principal = out.RunID, out.RunID, p.String()
	if err := m.stopRunAndBlock(ctx, in.SessionKey); err != nil {
		return out, err
	}
	defer m.unblock(in.SessionKey)
	if doErr := m.do(in.SessionKey, func(s *session) { out.ArchiveID, err = s.replace(old.ID, row) }); doErr != nil {
		return out, doErr
	}
	return out, m.pause.onStoreError(err)
}

// resent returns the run for a message that replaces another. A model for this message only becomes
// a setting in its text, so that a restart uses the same model.
func resent(old protocol.Message, in protocol.ChatResendParams) (store.Run, error) {
	text := old.Content.Text()
	if in.Message != nil {
		text = strings.TrimSpace(*in.Message)
	}
	row := store.Run{Session: in.SessionKey, Params: protocol.ChatSendParams{SessionKey: in.SessionKey, Node: in.Node}}
	for _, b := range old.Content {
		if b.Type != protocol.BlockText && in.Attachments == nil {
			row.Images = append(row.Images, b)
		}
	}
	switch isEmpty := text == "" && len(row.Images) == 0 && (in.Attachments == nil || len(*in.Attachments) == 0); {
	case isEmpty:
		return row, protocol.ErrBadRequest.With("message required")
	case in.Message != nil && (strings.HasPrefix(text, "!") || isCommand(text)):
		return row, protocol.ErrBadRequest.With("A command cannot replace a message. Send it as a new message.")
	}
	if in.Model != nil {
		if _, ok := parseModel(in.Model.String()); !ok {
			return row, protocol.ErrBadRequest.With("model must have a provider and an id")
		}
		text = strings.TrimSpace("/model:" + in.Model.String() + " " + text)
	}
	row.Params.Message = text
	return row, checkLength(text)
}

// isCommand reports whether a message is a slash command.
func isCommand(text string) bool {
	match := commandPattern.FindStringSubmatch(text)
	if match == nil {
		return false
	}
	name := strings.ToLower(match[1] + match[3])
	return commands[cmp.Or(shortNames[name], name)] != nil
}

// question returns a message of the person: the given one, or the one before the given answer.
func (h *history) question(ctx context.Context, key protocol.SessionKey, id protocol.MessageID) (protocol.Message, error) {
	msgs, at, err := h.conversation(ctx, key, id)
	if err != nil {
		return protocol.Message{}, err
	}
	if msgs[at].Origin == protocol.OriginDirect {
		return protocol.Message{}, errNotAPersons
	}
	if !beginsTurn(msgs[at]) {
		begin, _ := turnOf(msgs, at)
		at = max(begin-1, 0)
	}
	if m := msgs[at]; m.Role == protocol.RoleUser && m.Origin == protocol.OriginPerson {
		return m, nil
	}
	return protocol.Message{}, errNotAPersons
}

// conversation returns the messages that the model reads, and the index of one of them.
func (h *history) conversation(ctx context.Context, key protocol.SessionKey, id protocol.MessageID) (msgs []protocol.Message, at int, err error) {
	if id == "" {
		return nil, 0, protocol.ErrBadRequest.With("messageId required")
	}
	if msgs, err = h.store.Messages.List(ctx, key, 0, 0); err != nil {
		return nil, 0, err
	}
	if at = slices.IndexFunc(msgs, func(m protocol.Message) bool { return m.ID == id }); at < 0 {
		return nil, 0, errNotInChat
	}
	return msgs, at, nil
}

// beginsTurn reports whether a message is one that the agent answers.
func beginsTurn(m protocol.Message) bool {
	return m.Role == protocol.RoleUser && !m.OutsideConversation()
}

// turnOf returns the bounds of an answer, from its first message to the one after its last.
func turnOf(msgs []protocol.Message, at int) (begin, end int) {
	begin, end = at, at+1
	for begin > 0 && !beginsTurn(msgs[begin-1]) {
		begin--
	}
	for end < len(msgs) && !beginsTurn(msgs[end]) {
		end++
	}
	return begin, end
}

// replace stores a run in place of a message and everything after it. The run starts when the chat
// is unblocked.
func (s *session) replace(old protocol.MessageID, row store.Run) (protocol.ArchiveID, error) {
	if s.hasEarlierRuns && !s.m.resumed.Load() {
		return "", errStarting
	}
	if len(s.m.runs.commandsOf(s.key)) > 0 {
		return "", errOwnCommand
	}
	at := now()
	row.CreatedAt = max(at, s.lastCreatedAt+1)
	row.State, row.StartedAt = protocol.RunThinking, at
	a, _, err := s.m.store.Archives.Replace(context.WithoutCancel(s.m.ctx), old, row, message(row), at)
	if err != nil {
		return "", err
	}
	s.lastCreatedAt = row.CreatedAt
	s.queue.add(row)
	s.m.runs.track(row).publish()
	s.m.publishHistory(s.key)
	return a.ID, nil
}

// DeleteMessage deletes a message of the person, their command with its result, or a whole answer.
func (h *history) DeleteMessage(ctx context.Context, in protocol.MessageParams) (out protocol.MessageDeleteResult, err error) {
	key := h.Canonical(in.SessionKey)
	if err := h.blockIdle(key, "delete the message"); err != nil {
		return out, err
	}
	defer h.unblock(key)
	if len(h.runs.commandsOf(key)) > 0 {
		return out, errOwnCommand
	}
	msgs, at, err := h.conversation(ctx, key, in.MessageID)
	if err != nil {
		return out, err
	}
	removed := now()
	a, err := h.store.Archives.Delete(ctx, key, together(msgs, at), removed)
	if err != nil {
		return out, h.pause.onStoreError(err)
	}
	h.publishHistory(key)
	return protocol.MessageDeleteResult{OK: true, ArchiveID: a.ID, Messages: a.Messages, UndoUntil: removed + protocol.UndoMillis}, nil
}

// together returns the messages that are deleted with one: a command with its result, an answer with
// its calls and their results.
func together(msgs []protocol.Message, at int) []protocol.MessageID {
	m := msgs[at]
	begin, end := at, at+1
	belongs := func(protocol.Message) bool { return true }
	switch {
	case m.Origin == protocol.OriginDirect && m.RunID != "":
		begin, end = 0, len(msgs)
		belongs = func(o protocol.Message) bool { return o.RunID == m.RunID }
	case m.Origin != protocol.OriginDirect && m.Compaction == nil && !beginsTurn(m):
		begin, end = turnOf(msgs, at)
		belongs = func(o protocol.Message) bool { return o.Origin != protocol.OriginDirect && o.Compaction == nil }
	}
	var ids []protocol.MessageID
	for _, o := range msgs[begin:end] {
		if belongs(o) {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

// Fork creates a chat with the messages of another one up to a message.
func (h *history) Fork(ctx context.Context, in protocol.SessionForkParams) (protocol.SessionEntry, error) {
	var none protocol.SessionEntry
	key := h.Canonical(in.SessionKey)
	through, err := h.forkPoint(ctx, key, in)
	if err != nil {
		return none, err
	}
	s, err := h.store.Sessions.Get(ctx, key)
	if err != nil {
		return none, err
	}
	to := store.Session{Key: newKey(key.Agent()), Label: forkLabel(title(s)), Prefs: s.Prefs}
	// A permission is for the chat in which it was given; a stricter mode goes along.
	if mode := to.Prefs.Approvals; mode != nil && mode.Mode != protocol.ModeReadOnly && mode.Mode != protocol.ModePaused {
		to.Prefs.Approvals = nil
	}
	if err := h.store.Archives.Fork(ctx, key, to, through, now()); err != nil {
		return none, h.pause.onStoreError(err)
	}
	h.publishSession(to.Key)
	created, err := h.store.Sessions.Get(ctx, to.Key)
	return h.entry(created), err
}

// forkPoint returns the Seq of the last message for a fork. It reads around the message only, which
// may be one that a summary has replaced.
func (h *history) forkPoint(ctx context.Context, key protocol.SessionKey, in protocol.SessionForkParams) (int64, error) {
	m, err := h.store.Messages.Message(ctx, key, in.MessageID)
	switch {
	case err != nil:
		return 0, err
	case in.Before:
		return m.Seq - 1, nil
	case beginsTurn(m):
		return m.Seq, nil
	case h.runs.get(m.RunID) != nil:
		return 0, errStillWriting
	}
	msgs, err := h.store.Messages.List(ctx, key, m.Seq+maxHistory, maxHistory)
	if err != nil {
		return 0, err
	}
	at := slices.IndexFunc(msgs, func(o protocol.Message) bool { return o.ID == m.ID })
	if at < 0 {
		return 0, errNotInChat
	}
	_, end := turnOf(msgs, at)
	for end-1 > at && msgs[end-1].OutsideConversation() { // such as a command of the person after the answer
		end--
	}
	return msgs[end-1].Seq, nil
}

// maxForkTitle is the length of a source's title in that of its fork, in characters.
const maxForkTitle = 150

func forkLabel(title string) string {
	r := []rune(title)
	return strings.TrimSpace(string(r[:min(len(r), maxForkTitle)])) + " (fork)"
}
