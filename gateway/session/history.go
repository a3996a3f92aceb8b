package session

import (
	"context"
	"errors"
	"slices"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// History reads the messages and archives of chats, and archives messages. It is safe for
// concurrent use.
type History struct {
	chats    *Chats
	sessions *store.Sessions
	messages *store.Messages
	archives *store.Archives
	search   *store.Search
	files    *archiveFiles
	memories *memories
	tasks    modelTasks
	pause    *pause
}

// SessionIDs returns a chat's session IDs, one for each part between two resets.
func (h *History) SessionIDs(ctx context.Context, in protocol.SessionParams) (protocol.SessionHistoryResult, error) {
	s, err := h.chats.peek(ctx, in.SessionKey)
	return protocol.SessionHistoryResult{SessionKey: s.Key, CurrentSessionID: s.ID, PreviousSessionIDs: previousIDs(s)}, err
}

// Preview returns the last messages.
func (h *History) Preview(ctx context.Context, in protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
	if in.Limit < 0 || in.Before < 0 {
		return protocol.SessionPreviewResult{}, protocol.ErrBadRequest.With("limit and before must not be negative")
	}
	s, err := h.chats.peek(ctx, in.SessionKey)
	if err != nil {
		return protocol.SessionPreviewResult{}, err
	}
	read := h.messages.Conversation
	if in.Notices {
		read = h.messages.List
	}
	msgs, err := read(ctx, s.Key, in.Before, in.Limit)
	if errors.Is(err, protocol.ErrNotFound) {
		err = nil // nobody has written to it yet
	}
	msgs = append([]protocol.Message{}, msgs...) // never nil
	return protocol.SessionPreviewResult{SessionKey: s.Key, SessionID: s.ID, MessageCount: s.MessageCount, Messages: msgs}, err
}

// Archives lists a chat's archives without those of deletions, newest first.
func (h *History) Archives(ctx context.Context, in protocol.SessionParams) (protocol.SessionArchivesResult, error) {
	chat := h.chats.Canonical(in.SessionKey)
	out := protocol.SessionArchivesResult{SessionKey: chat, Archives: []protocol.ArchiveInfo{}}
	list, err := h.archives.List(ctx, chat)
	for _, x := range list {
		if x.Kind != protocol.ArchiveDelete {
			out.Archives = append(out.Archives, archiveInfo(x))
		}
	}
	return out, err
}

// ReadArchive returns the messages of an archive.
func (h *History) ReadArchive(ctx context.Context, in protocol.SessionArchiveReadParams) (protocol.SessionArchiveReadResult, error) {
	var out protocol.SessionArchiveReadResult
	if in.ID == "" {
		return out, protocol.ErrBadRequest.With("id required")
	}
	if in.Limit < 0 || in.Before < 0 {
		return out, protocol.ErrBadRequest.With("limit and before must not be negative")
	}
	x, err := h.archives.Get(ctx, h.chats.Canonical(in.SessionKey), in.ID)
	if err != nil {
		return out, err
	}
	out.Archive = archiveInfo(x)
	out.Messages, err = h.archives.Messages(ctx, x, in.Before, in.Limit)
	return out, err
}

// question returns a message of the person: the given one, or the one before the given answer.
func (h *History) question(ctx context.Context, key protocol.SessionKey, id protocol.MessageID) (protocol.Message, error) {
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
func (h *History) conversation(ctx context.Context, key protocol.SessionKey, id protocol.MessageID) (msgs []protocol.Message, at int, err error) {
	if id == "" {
		return nil, 0, protocol.ErrBadRequest.With("messageId required")
	}
	if msgs, err = h.messages.List(ctx, key, 0, 0); err != nil {
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
