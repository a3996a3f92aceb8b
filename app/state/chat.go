package state

import (
	"context"
	"errors"
	"slices"

	"fairlead/gateway/protocol"
)

// pageSize is how many messages are loaded at once.
const pageSize = 150

// ChatView is a conversation's loaded messages. Its slices must not be changed.
type ChatView struct {
	Key      protocol.SessionKey
	Messages []protocol.Message // oldest first
	More     bool               // there are older ones
	Loading  bool
	Problem  string

	load int                // counts loads: an answer to an older one is not wanted any more
	late []protocol.Message // arrived since the load began
}

// Chat is one conversation. Its methods are safe for use by many goroutines.
type Chat struct {
	Key   protocol.SessionKey
	Value *Value[ChatView]
	app   *App
	// fetch reads n messages before a sequence number, 0 is the end. more says that there are older ones.
	fetch func(ctx context.Context, before int64, n int) (list []protocol.Message, more bool, err error)
}

// Chat returns the view-model of a conversation, and loads it the first time: at once, or as soon as there is a connection.
func (a *App) Chat(key protocol.SessionKey) *Chat {
	a.mu.Lock()
	c := a.chats[key]
	known := c != nil
	if !known {
		c = &Chat{Key: key, app: a, Value: NewValue(ChatView{Key: key, Loading: true})}
		c.fetch = c.preview
		a.chats[key] = c
	}
	a.mu.Unlock()
	if !known && a.Value.Get().Loaded {
		c.reload()
	}
	return c
}

// Forget drops a conversation's messages, when no window shows it any more.
func (a *App) Forget(key protocol.SessionKey) {
	a.mu.Lock()
	delete(a.chats, key)
	a.mu.Unlock()
}

// Reload loads the newest messages again.
func (c *Chat) Reload() { c.reload() }

func (c *Chat) reload() {
	load := 0
	c.Value.Update(func(v ChatView) ChatView {
		v.load++
		load = v.load
		v.Loading, v.Problem, v.late = true, "", nil
		return v
	})
	c.page(0, pageSize, func(v ChatView, p page, err error) ChatView {
		if v.load != load {
			return v
		}
		v.Loading = false
		late := v.late
		v.late = nil
		if err != nil {
			v.Problem = sentence(err)
			return v
		}
		v.Messages, v.More = p.list, p.more
		for _, m := range late {
			v.Messages = add(v.Messages, m)
		}
		return v
	})
}

// Older loads the page before the first message.
func (c *Chat) Older() { c.older(pageSize) }

// reachSize is how many messages are loaded at once on the way to one far back.
const reachSize = 1000

// Reach loads back to the message with a sequence number, so that a window can show it. It blocks, also while the chat itself is being
// loaded.
func (c *Chat) Reach(ctx context.Context, seq int64) error {
	asked := int64(0)
	for v := range c.Value.Changes(ctx) {
		switch {
		case v.Problem != "":
			return errors.New(v.Problem)
		case v.Loading:
			continue
		case !v.More || v.Messages[0].Seq <= seq:
			return nil
		case v.Messages[0].Seq == asked:
			return errors.New("the messages before could not be loaded")
		}
		asked = v.Messages[0].Seq
		c.older(int(min(max(asked-seq+pageSize/2, pageSize), reachSize)))
	}
	return ctx.Err()
}

// older loads n messages before the first one.
func (c *Chat) older(n int) {
	v := c.Value.Get()
	if !v.More || v.Loading || len(v.Messages) == 0 {
		return
	}
	load, before := v.load, v.Messages[0].Seq
	c.Value.Update(func(v ChatView) ChatView { v.Loading = true; return v })
	c.page(before, n, func(v ChatView, p page, err error) ChatView {
		if v.load != load || len(v.Messages) == 0 || v.Messages[0].Seq != before {
			return v
		}
		v.Loading = false
		if err != nil {
			c.app.start(func(context.Context) { c.app.fail(err) })
			return v
		}
		v.Messages = append(slices.Clone(p.list), v.Messages...)
		v.More = p.more
		return v
	})
}

// page loads n messages before a sequence number (0: the newest) and puts them into the view.
func (c *Chat) page(before int64, n int, into func(ChatView, page, error) ChatView) {
	c.app.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		list, more, err := c.fetch(ctx, before, n)
		c.Value.Update(func(v ChatView) ChatView { return into(v, page{list, more}, err) })
	})
}

// page is a piece of a conversation, and whether there are messages before it.
type page struct {
	list []protocol.Message
	more bool
}

// preview is fetch of a conversation that goes on.
func (c *Chat) preview(ctx context.Context, before int64, n int) ([]protocol.Message, bool, error) {
	p, err := Call(ctx, c.app, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: c.Key, Limit: n, Before: before, Notices: true})
	return p.Messages, len(p.Messages) > 0 && p.Messages[0].Seq > 1, err
}

// add appends a message unless it is there already. The list given is not changed.
func add(list []protocol.Message, m protocol.Message) []protocol.Message {
	if n := len(list); n > 0 && list[n-1].Seq >= m.Seq {
		return list
	}
	// Sharing the beginning with the list before keeps a message cheap in a chat of thousands: nobody else appends to it, because
	// changes come one at a time.
	return append(list, m)
}

// apply takes a change of the messages in.
func (c *Chat) apply(ch protocol.Change) {
	if ch.Kind == protocol.ChangeHistory {
		c.Value.Update(func(v ChatView) ChatView { v.Messages, v.More = nil, false; return v })
		c.reload()
		return
	}
	if ch.Message == nil {
		return
	}
	m := *ch.Message
	c.Value.Update(func(v ChatView) ChatView {
		if v.Loading {
			v.late = append(v.late, m)
		}
		v.Messages = add(v.Messages, m)
		return v
	})
}

// Send sends a message and tells what became of it: a run began, it waits in the queue, or it was a command with a response. It blocks
// until the gateway has stored it. When err is not nil the message was not taken, or nobody knows: the person keeps their text.
func (c *Chat) Send(ctx context.Context, text string, images []protocol.Attachment, node protocol.NodeID) (protocol.ChatSendResult, error) {
	ctx, cancel := context.WithTimeout(ctx, rpcLimit)
	defer cancel()
	return Call(ctx, c.app, protocol.ChatSend, protocol.ChatSendParams{SessionKey: c.Key, Message: text, Attachments: images, Node: node})
}

// Stop stops the run in progress, or takes a waiting message out of the queue.
func (c *Chat) Stop(run protocol.RunID) {
	act(c.app, protocol.ChatCancel, protocol.ChatCancelParams{SessionKey: c.Key, RunID: run})
}

// StopCall stops one tool call.
func (c *Chat) StopCall(id protocol.CallID) {
	act(c.app, protocol.CallCancel, protocol.CallCancelParams{CallID: id})
}

// SetModel chooses the conversation's model; the zero value is the default again.
func (c *Chat) SetModel(ref protocol.ModelRef) {
	act(c.app, protocol.SessionPatch, protocol.SessionPatchParams{
		SessionKey: c.Key,
		Settings:   &protocol.SessionPrefsPatch{Model: &protocol.ModelPatch{Provider: &ref.Provider, ID: &ref.ID}},
	})
}

// SetThinking chooses how much the model thinks; empty is the default again.
func (c *Chat) SetThinking(level string) {
	act(c.app, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: c.Key, Settings: &protocol.SessionPrefsPatch{ThinkingLevel: &level}})
}
