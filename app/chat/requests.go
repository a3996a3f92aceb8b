package chat

import (
	"cmp"
	"context"
	"slices"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/chats"
	"fairlead/app/conversation"
	"fairlead/app/host"
	"fairlead/app/inbox"
	"fairlead/gateway/protocol"
)

// requests carries out what the person wants from the agent. It implements [conversation.Author].
type requests struct {
	chat     *current
	composer *composer
	drafts   *Drafts
	onSend   func() // called when the field is empty, because its message is on the way
}

// send sends a message. If sending fails, the person gets the text and pictures back.
func (r *requests) send(text string, images []protocol.Attachment, node protocol.NodeID) {
	m := r.chat.model()
	r.onSend()
	r.drafts.sent = m.Key
	var result protocol.ChatSendResult
	var err error
	r.chat.host.Run(r.chat.ctx, "", func(ctx context.Context) error {
		result, err = m.Send(ctx, text, images, node)
		return nil
	}, func() {
		switch {
		case err != nil:
			r.chat.host.Say("Your message was not sent: " + err.Error())
			r.giveBack(m.Key, text, images)
		case result.Error != "":
			r.chat.host.Say(result.Error)
		case result.Response != "" && result.Status != protocol.ChatStarted:
			r.chat.host.Say(result.Response)
		}
	})
}

// giveBack puts an unsent message before the text that the person has typed since.
func (r *requests) giveBack(key protocol.SessionKey, text string, images []protocol.Attachment) {
	if key != r.chat.state.Session.SessionKey {
		r.drafts.save(key, r.drafts.byChat[key].withPrefix(text, images))
		return
	}
	r.composer.setContent(r.composer.content().withPrefix(text, images))
}

// Actions implements [conversation.Author].
func (r *requests) Actions(m protocol.Message) []conversation.Action {
	id := m.ID
	remove := func(text, what string) conversation.Action {
		return conversation.Action{Text: text, Do: func() { r.deleteMessage(id, what) }}
	}
	fork := conversation.Action{Short: "Fork", Text: "Fork from here"}
	switch {
	case m.Origin == protocol.OriginDirect:
		return []conversation.Action{remove("Delete command", "The command")}
	case m.Role == protocol.RoleUser && m.Origin == protocol.OriginPerson:
		fork.Do = func() { r.fork(id, m.Content) }
		edit := conversation.Action{Short: "Edit", Text: "Edit and resend", Do: func() { r.composer.edit(m) }}
		return []conversation.Action{edit, fork, remove("Delete message", "The message")}
	case m.Role == protocol.RoleAssistant:
		fork.Do = func() { r.fork(id, nil) }
		again := conversation.Action{Short: "Regenerate", Text: "Regenerate", Do: func() { r.resend(protocol.ChatResendParams{MessageID: id}) }}
		return []conversation.Action{again, r.regenerateWith(id), fork, remove("Delete answer", "The answer")}
	}
	return nil
}

// regenerateWith offers the other models for an answer.
func (r *requests) regenerateWith(id protocol.MessageID) conversation.Action {
	a := conversation.Action{Text: "Regenerate with"}
	for _, m := range r.chat.state.Models {
		a.Choices = append(a.Choices, fyne.NewMenuItem(cmp.Or(m.Name, m.Ref.ID), func() {
			r.resend(protocol.ChatResendParams{MessageID: id, Model: &m.Ref})
		}))
	}
	return a
}

// Answer implements [conversation.Author].
func (r *requests) Answer(q protocol.Question, decision string) {
	answer := protocol.QuestionAnswerParams{Decision: decision, Scope: protocol.ScopeOnce}
	inbox.NewModel(r.chat.host.Feed).Answer([]protocol.Question{q}, answer)
}

// TakeBack implements [conversation.Author].
func (r *requests) TakeBack(run protocol.RunID, text string) {
	r.chat.model().Stop(run)
	r.composer.prepend(text)
}

// Retry answers the message of a run again. If the run called tools, the message is sent anew, so
// that the agent knows what was done already.
func (r *requests) Retry(run protocol.RunID) {
	text := ""
	for _, failed := range r.chat.state.Runs {
		if failed.RunID == run {
			text = failed.Message
		}
	}
	var content protocol.Content
	calledTools := false
	for _, m := range slices.Backward(r.chat.state.Messages) {
		calledTools = calledTools || m.Role == protocol.RoleToolResult
		if m.Role != protocol.RoleUser || m.RunID != run && m.RunID != "" {
			continue
		}
		if m.Origin == protocol.OriginPerson && m.ID != "" && !calledTools {
			r.resend(protocol.ChatResendParams{MessageID: m.ID})
			return
		}
		content = m.Content
		if m.Origin == protocol.OriginEvent {
			c, _ := m.Completion()
			text = cmp.Or(text, c.Words(string(c.NodeID)))
		}
		break
	}
	r.sendAgain(cmp.Or(text, content.Text()), content)
}

// sendAgain sends a text with the pictures of an earlier message as a new one.
func (r *requests) sendAgain(text string, content protocol.Content) {
	r.chat.withPictures(content, func(list []protocol.Attachment) {
		if text == "" && len(list) == 0 {
			return
		}
		r.chat.view.ScrollToEnd()
		r.send(text, list, r.chat.machine)
	})
}

// undoResendFor is how long the window offers to undo; "Earlier conversations" can do it later, too.
const undoResendFor = 10 * time.Second

// resend replaces a message and what followed it, and offers to undo that. If it fails, the person
// gets a changed text and its pictures back.
func (r *requests) resend(in protocol.ChatResendParams) {
	in.Node = r.chat.machine
	r.chat.view.ScrollToEnd()
	r.onSend()
	m := r.chat.model()
	var id protocol.ArchiveID
	var err error
	r.chat.host.Run(r.chat.ctx, "", func(ctx context.Context) error {
		id, err = m.Resend(ctx, in)
		return nil
	}, func() {
		if err != nil {
			r.chat.host.Say("The message was not sent again: " + err.Error())
			if in.Message != nil {
				r.giveBack(m.Key, *in.Message, *in.Attachments)
			}
			return
		}
		r.chat.host.Undo("Replaced.", r.undo(m, id, "The earlier version"), time.Now().Add(undoResendFor))
	})
}

// undo returns a function that restores what was replaced or deleted.
func (r *requests) undo(of Model, id protocol.ArchiveID, what string) func() {
	return func() {
		r.chat.host.Run(r.chat.ctx, what+" could not be restored", func(ctx context.Context) error { return of.RestoreMessages(ctx, id) }, func() {})
	}
}

// deleteMessage deletes a message and offers to undo that; what names it.
func (r *requests) deleteMessage(id protocol.MessageID, what string) {
	m := r.chat.model()
	var archive protocol.ArchiveID
	var until time.Time
	r.chat.host.Run(r.chat.ctx, what+" was not deleted", func(ctx context.Context) (err error) {
		archive, until, err = m.DeleteMessage(ctx, id)
		return err
	}, func() { r.chat.host.Undo(what+" was deleted.", r.undo(m, archive, what), until) })
}

// fork opens a new chat with the messages up to one; with a draft, with those before it and the
// draft in the field.
func (r *requests) fork(id protocol.MessageID, content protocol.Content) {
	m := r.chat.model()
	var key protocol.SessionKey
	now := draft{text: content.Text()}
	r.chat.host.Run(r.chat.ctx, "The chat was not forked", func(ctx context.Context) (err error) {
		if now.images, err = chats.Pictures(ctx, r.chat.host.Feed, content); err != nil {
			return err
		}
		key, err = m.Fork(ctx, id, content != nil)
		return err
	}, func() {
		r.drafts.save(key, now)
		r.chat.host.Open(host.Fork{Key: key, From: m.Key})
	})
}

// stop stops the run in progress.
func (r *requests) stop() { r.chat.model().Stop("") }
