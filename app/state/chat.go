package state

import (
	"context"
	"errors"
	"slices"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

const pageSize = 150

// ChatView has the loaded messages of a conversation. Its slices must not be changed.
type ChatView struct {
	Key      protocol.SessionKey
	Messages []protocol.Message // oldest first
	More     bool               // older messages exist
	Loading  bool
	Problem  string

	load int                // number of the current load; responses to earlier ones are ignored
	late []protocol.Message // messages that arrived during the load
}

// Chat is one conversation. Its methods are safe for concurrent use.
type Chat struct {
	Key   protocol.SessionKey
	Value *feed.Value[ChatView]
	app   *App
	// fetch reads n messages before a sequence number; 0 is the end.
	fetch func(ctx context.Context, before int64, n int) (list []protocol.Message, more bool, err error)
}

// Reload loads the newest messages again.
func (c *Chat) Reload() { c.reload(pageSize) }

func (c *Chat) reload(n int) {
	load := 0
	c.Value.Update(func(v *ChatView) {
		v.load++
		load = v.load
		v.Loading, v.Problem, v.late = true, "", nil
	})
	c.page(0, n, func(v *ChatView, p page, err error) {
		if v.load != load {
			return
		}
		v.Loading = false
		late := v.late
		v.late = nil
		if err != nil {
			v.Problem = feed.Sentence(err)
			return
		}
		v.Messages, v.More = p.list, p.more
		for _, m := range late {
			v.Messages = appendNew(v.Messages, m)
		}
	})
}

// Older loads the messages before the first loaded one.
func (c *Chat) Older() { c.older(pageSize) }

const reachSize = 1000

// Reach loads messages back to a sequence number. It blocks, also while the chat is loading.
func (c *Chat) Reach(ctx context.Context, seq int64) error {
	oldest := int64(0)
	for v := range c.Value.Changes(ctx) {
		switch {
		case v.Problem != "":
			return errors.New(v.Problem)
		case v.Loading:
			continue
		case !v.More || v.Messages[0].Seq <= seq:
			return nil
		case v.Messages[0].Seq == oldest:
			return errors.New("the messages before could not be loaded")
		}
		oldest = v.Messages[0].Seq
		c.older(int(min(max(oldest-seq+pageSize/2, pageSize), reachSize)))
	}
	return ctx.Err()
}

// ReachRun loads messages back to those of a run and returns its first one. It blocks, also while the
// chat is loading.
func (c *Chat) ReachRun(ctx context.Context, run protocol.RunID) (protocol.Message, error) {
	oldest := int64(0)
	for v := range c.Value.Changes(ctx) {
		if v.Problem != "" {
			return protocol.Message{}, errors.New(v.Problem)
		}
		if v.Loading {
			continue
		}
		if m, ok := lists.Find(v.Messages, func(m protocol.Message) bool { return m.RunID == run }); ok {
			return m, nil
		}
		if !v.More || v.Messages[0].Seq == oldest {
			return protocol.Message{}, errors.New("that run is no longer in this chat")
		}
		oldest = v.Messages[0].Seq
		c.older(reachSize)
	}
	return protocol.Message{}, ctx.Err()
}

func (c *Chat) older(n int) {
	v := c.Value.Get()
	if !v.More || v.Loading || len(v.Messages) == 0 {
		return
	}
	load, before := v.load, v.Messages[0].Seq
	c.Value.Update(func(v *ChatView) { v.Loading = true })
	c.page(before, n, func(v *ChatView, p page, err error) {
		if v.load != load || len(v.Messages) == 0 || v.Messages[0].Seq != before {
			return
		}
		v.Loading = false
		if err != nil {
			c.app.Tasks.Start(func(context.Context) { c.app.Tasks.Fail(err) })
			return
		}
		v.Messages = append(slices.Clone(p.list), v.Messages...)
		v.More = p.more
	})
}

// page loads n messages before a sequence number (0: the newest) and adds them to the view.
func (c *Chat) page(before int64, n int, into func(*ChatView, page, error)) {
	c.app.Tasks.StartRequest(func(ctx context.Context) {
		list, more, err := c.fetch(ctx, before, n)
		c.Value.Update(func(v *ChatView) { into(v, page{list, more}, err) })
	})
}

type page struct {
	list []protocol.Message
	more bool
}

func (c *Chat) preview(ctx context.Context, before int64, n int) ([]protocol.Message, bool, error) {
	p, err := feed.Call(ctx, c.app, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: c.Key, Limit: n, Before: before, Notices: true})
	// A short page reaches the beginning, which may have been deleted, or the last summary.
	isShort := len(p.Messages) < n
	afterSummary := before == 0 && slices.ContainsFunc(p.Messages, func(m protocol.Message) bool { return m.Compaction != nil })
	return p.Messages, len(p.Messages) > 0 && p.Messages[0].Seq > 1 && (!isShort || afterSummary), err
}

// appendNew appends a message unless the list has it already. It does not change the given list.
func appendNew(list []protocol.Message, m protocol.Message) []protocol.Message {
	if n := len(list); n > 0 && list[n-1].Seq >= m.Seq {
		return list
	}
	// Sharing the array keeps appending cheap in a chat of thousands of messages. It is safe:
	// changes come one at a time, and only this code appends.
	return append(list, m)
}

func (c *Chat) apply(ch protocol.Change) {
	if ch.Kind == protocol.ChangeHistory {
		// As many messages as are shown, so that the reader stays at the same one.
		c.reload(min(max(len(c.Value.Get().Messages), pageSize), reachSize))
		return
	}
	if ch.Message == nil {
		return
	}
	m := *ch.Message
	c.Value.Update(func(v *ChatView) {
		if v.Loading {
			v.late = append(v.late, m)
		}
		v.Messages = appendNew(v.Messages, m)
	})
}

// Send sends a message and returns the result when the gateway has stored it. After an error it may
// not be stored, and the person keeps the text.
func (c *Chat) Send(ctx context.Context, text string, images []protocol.Attachment, node protocol.NodeID) (protocol.ChatSendResult, error) {
	ctx, cancel := context.WithTimeout(ctx, feed.ActionTimeout)
	defer cancel()
	text, images, err := c.withItems(ctx, text, images)
	if err != nil {
		return protocol.ChatSendResult{}, err
	}
	return feed.Call(ctx, c.app, protocol.ChatSend, protocol.ChatSendParams{SessionKey: c.Key, Message: text, Attachments: images, Node: node})
}

// Stop stops the run in progress, or removes a queued message.
func (c *Chat) Stop(run protocol.RunID) {
	feed.Start(c.app.Feed, protocol.ChatCancel, protocol.ChatCancelParams{SessionKey: c.Key, RunID: run})
}

// StopCall stops one tool call.
func (c *Chat) StopCall(id protocol.CallID) {
	feed.Start(c.app.Feed, protocol.CallCancel, protocol.CallCancelParams{CallID: id})
}

// SetModel sets the conversation's model; the zero value restores the default.
func (c *Chat) SetModel(ref protocol.ModelRef) {
	feed.Start(c.app.Feed, protocol.SessionPatch, protocol.SessionPatchParams{
		SessionKey: c.Key,
		Settings:   &protocol.SessionPrefsPatch{Model: &protocol.ModelPatch{Provider: &ref.Provider, ID: &ref.ID}},
	})
}

// SetThinking sets the thinking level; empty restores the default.
func (c *Chat) SetThinking(level string) {
	feed.Start(c.app.Feed, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: c.Key, Settings: &protocol.SessionPrefsPatch{ThinkingLevel: &level}})
}
