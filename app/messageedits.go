package app

import (
	"context"
	"time"

	"fairlead/app/bind"
	"fairlead/app/chat"
	"fairlead/app/chats"
	"fairlead/gateway/protocol"
)

// undoResendFor is how long the window offers to undo; "Earlier conversations" can do it later, too.
const undoResendFor = 10 * time.Second

// resend replaces a message and what followed it, and offers to undo that. If it fails, the field
// gets a changed text and its pictures back.
func (c *conversation) resend(in protocol.ChatResendParams) {
	to, u := c.model, c.ui
	c.saveDraft()
	bind.Go(u.ctx, func(ctx context.Context) (protocol.ArchiveID, error) { return to.Resend(ctx, in) }, func(id protocol.ArchiveID, err error) {
		if err != nil {
			u.messages.showIn(c.window, "The message was not sent again: "+err.Error())
			if in.Message != nil {
				c.restoreUnsent(to.Key, *in.Message, *in.Attachments)
			}
			return
		}
		u.messages.offerUndoIn(c.window, "Replaced.", c.undo(to, id, "The earlier version"), time.Now().Add(undoResendFor))
	})
}

// undo returns a function that restores what was replaced or deleted.
func (c *conversation) undo(of chat.Model, id protocol.ArchiveID, what string) func() {
	return func() {
		request(c.ui, c.window, what+" could not be restored: ", func(ctx context.Context) (struct{}, error) {
			return struct{}{}, of.RestoreMessages(ctx, id)
		}, func(struct{}) {})
	}
}

// deleteMessage deletes a message and offers to undo that; what names it.
func (c *conversation) deleteMessage(id protocol.MessageID, what string) {
	to, u := c.model, c.ui
	var until time.Time
	request(u, c.window, what+" was not deleted: ", func(ctx context.Context) (archive protocol.ArchiveID, err error) {
		archive, until, err = to.DeleteMessage(ctx, id)
		return archive, err
	}, func(archive protocol.ArchiveID) {
		u.messages.offerUndoIn(c.window, what+" was deleted.", c.undo(to, archive, what), until)
	})
}

// fork opens a new chat in the main window with the messages up to one; with a draft, with those
// before it and the draft in the field.
func (c *conversation) fork(id protocol.MessageID, content protocol.Content) {
	to, u := c.model, c.ui
	var now draft
	request(u, c.window, "The chat was not forked: ", func(ctx context.Context) (key protocol.SessionKey, err error) {
		if now.text = content.Text(); content != nil {
			if now.pictures, err = chats.Pictures(ctx, u.backend.state, content); err != nil {
				return "", err
			}
		}
		return to.Fork(ctx, id, content != nil)
	}, func(key protocol.SessionKey) {
		u.main.open(key)
		u.main.show()
		u.main.conversation.field.set(now)
		u.messages.showAction("Forked.", "Open original", func() { u.main.open(to.Key) })
	})
}
