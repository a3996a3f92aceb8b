package state

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
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
}

// Chat is one conversation. Its methods are safe for use by many goroutines.
type Chat struct {
	Key   protocol.SessionKey
	Value *Value[ChatView]
	app   *App
	load  sync.Mutex // one load at a time
}

// Chat returns the view-model of a conversation, and loads it the first time.
func (a *App) Chat(key protocol.SessionKey) *Chat {
	a.mu.Lock()
	c := a.chats[key]
	if c == nil {
		c = &Chat{Key: key, app: a, Value: NewValue(ChatView{Key: key, Loading: true})}
		a.chats[key] = c
		defer c.reload()
	}
	a.mu.Unlock()
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
	c.Value.Update(func(v ChatView) ChatView { v.Loading, v.Problem = true, ""; return v })
	go func() {
		c.load.Lock()
		defer c.load.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), rpcLimit)
		defer cancel()
		p, err := client.Call(ctx, c.app.c, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: c.Key, Limit: pageSize})
		c.Value.Update(func(v ChatView) ChatView {
			v.Loading = false
			if err != nil {
				v.Problem = err.Error()
				return v
			}
			// Messages that arrived while this was on its way are kept.
			fresh := p.Messages
			for _, m := range v.Messages {
				if n := len(fresh); n > 0 && m.Seq > fresh[n-1].Seq && m.Seq > 0 {
					fresh = append(fresh, m)
				}
			}
			v.Messages, v.More = fresh, len(p.Messages) > 0 && p.Messages[0].Seq > 1
			return v
		})
	}()
}

// Older loads the page before the first message.
func (c *Chat) Older() {
	v := c.Value.Get()
	if !v.More || v.Loading || len(v.Messages) == 0 {
		return
	}
	before := v.Messages[0].Seq
	c.Value.Update(func(v ChatView) ChatView { v.Loading = true; return v })
	go func() {
		c.load.Lock()
		defer c.load.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), rpcLimit)
		defer cancel()
		p, err := client.Call(ctx, c.app.c, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: c.Key, Limit: pageSize, Before: before})
		c.Value.Update(func(v ChatView) ChatView {
			v.Loading = false
			if err != nil || len(v.Messages) == 0 || v.Messages[0].Seq != before {
				return v
			}
			v.Messages = append(slices.Clone(p.Messages), v.Messages...)
			v.More = len(p.Messages) > 0 && p.Messages[0].Seq > 1
			return v
		})
	}()
}

// apply takes a change of the messages in.
func (c *Chat) apply(ch protocol.Change) {
	if ch.Kind == protocol.ChangeHistory {
		c.Value.Update(func(v ChatView) ChatView { v.Messages, v.More = nil, false; return v })
		c.reload()
		return
	}
	m := *ch.Message
	c.Value.Update(func(v ChatView) ChatView {
		if n := len(v.Messages); n > 0 && v.Messages[n-1].Seq >= m.Seq {
			return v
		}
		v.Messages = append(v.Messages[:len(v.Messages):len(v.Messages)], m)
		return v
	})
}

// Send sends a message.
func (c *Chat) Send(text string, images []protocol.Attachment, node protocol.NodeID) {
	act(c.app, protocol.ChatSend, protocol.ChatSendParams{SessionKey: c.Key, Message: text, Attachments: images, Node: node}, func(r protocol.ChatSendResult) {
		switch {
		case r.Error != "":
			c.app.Notify("error", r.Error)
		case r.Response != "" && r.Status != protocol.ChatStarted:
			c.app.Notify("info", r.Response)
		}
	})
}

// Stop stops the run in progress, or takes a waiting message out of the queue.
func (c *Chat) Stop(run protocol.RunID) {
	act(c.app, protocol.ChatCancel, protocol.ChatCancelParams{SessionKey: c.Key, RunID: run}, nil)
}

// StopCall stops one tool call.
func (c *Chat) StopCall(id protocol.CallID) {
	act(c.app, protocol.CallCancel, protocol.CallCancelParams{CallID: id}, nil)
}

// Retry sends the message of a failed run again.
func (c *Chat) Retry(r protocol.RunInfo) {
	c.Send(r.Message, nil, "")
}

// SetModel chooses the conversation's model; the zero value is the default again.
func (c *Chat) SetModel(ref protocol.ModelRef) {
	act(c.app, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: c.Key,
		Settings: &protocol.SessionPrefsPatch{Model: &protocol.ModelPatch{Provider: &ref.Provider, ID: &ref.ID}}}, nil)
}

// SetThinking chooses how much the model thinks; empty is the default again.
func (c *Chat) SetThinking(level string) {
	act(c.app, protocol.SessionPatch, protocol.SessionPatchParams{SessionKey: c.Key, Settings: &protocol.SessionPrefsPatch{ThinkingLevel: &level}}, nil)
}

// Export writes the whole conversation as Markdown. It blocks while the messages are loaded.
func (c *Chat) Export(ctx context.Context) (title, text string, err error) {
	p, err := client.Call(ctx, c.app.c, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: c.Key})
	if err != nil {
		return "", "", fmt.Errorf("load the chat: %w", err)
	}
	title = "Chat"
	if s, ok := c.app.Value.Get().Session(c.Key); ok && s.Title != "" {
		title = s.Title
	}
	return title, Markdown(title, p.Messages, time.Local), nil
}

// Markdown renders a conversation for people.
func Markdown(title string, messages []protocol.Message, zone *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", title)
	for _, m := range messages {
		at := time.UnixMilli(m.Timestamp).In(zone).Format("2 Jan 2006 15:04")
		switch {
		case m.Origin == protocol.OriginNotice:
			fmt.Fprintf(&b, "\n*%s*\n", m.Content.Text())
		case m.Role == protocol.RoleUser:
			fmt.Fprintf(&b, "\n## You · %s\n\n%s\n", at, m.Content.Text())
		case m.Role == protocol.RoleAssistant:
			if text := m.Content.Text(); text != "" {
				fmt.Fprintf(&b, "\n## Fairlead · %s\n\n%s\n", at, text)
			}
			for _, call := range m.Content.Calls() {
				fmt.Fprintf(&b, "\n**%s** `%s`\n", call.Name, strings.ReplaceAll(string(call.Arguments), "`", "'"))
			}
		case m.Role == protocol.RoleToolResult:
			fence := "```"
			for strings.Contains(m.Content.Text(), fence) {
				fence += "`"
			}
			fmt.Fprintf(&b, "\n%s\n%s\n%s\n", fence, strings.TrimRight(m.Content.Text(), "\n"), fence)
		}
	}
	return b.String()
}
