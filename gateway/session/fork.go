package session

import (
	"context"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Fork creates a chat with the messages of another one up to a message.
func (c *Chats) Fork(ctx context.Context, in protocol.SessionForkParams) (protocol.SessionEntry, error) {
	var none protocol.SessionEntry
	key := c.Canonical(in.SessionKey)
	through, err := c.forkPoint(ctx, key, in)
	if err != nil {
		return none, err
	}
	s, err := c.sessions.Get(ctx, key)
	if err != nil {
		return none, err
	}
	to := store.Session{Key: newKey(key.Agent()), Label: forkLabel(title(s)), Prefs: s.Prefs}
	// A permission is for the chat in which it was given; a stricter mode goes along.
	if mode := to.Prefs.Approvals; mode != nil && mode.Mode != protocol.ModeReadOnly && mode.Mode != protocol.ModePaused {
		to.Prefs.Approvals = nil
	}
	if err := c.archives.Fork(ctx, key, to, through, now()); err != nil {
		return none, c.pause.onStoreError(err)
	}
	c.publishSession(to.Key)
	created, err := c.sessions.Get(ctx, to.Key)
	return c.entry(created), err
}

// forkPoint returns the Seq of the last message for a fork. It reads around the message only, which
// may be one that a summary has replaced.
func (c *Chats) forkPoint(ctx context.Context, key protocol.SessionKey, in protocol.SessionForkParams) (int64, error) {
	m, err := c.messages.Message(ctx, key, in.MessageID)
	switch {
	case err != nil:
		return 0, err
	case in.Before:
		return m.Seq - 1, nil
	case beginsTurn(m):
		return m.Seq, nil
	case c.active.get(m.RunID) != nil:
		return 0, errStillWriting
	}
	msgs, err := c.messages.List(ctx, key, m.Seq+maxHistory, maxHistory)
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
