package chat

import (
	"time"

	"fairlead/app/style"
	"fairlead/gateway/protocol"
)

// conversation is what the pane shows now. Its parts read it; the pane changes it.
type conversation struct {
	handlers Handlers
	machines *style.Machines
	builder  *builder
	state    State
	isSet    bool // a state was set
	readOnly bool
	now      time.Time
	machine  protocol.NodeID // chosen by the person; empty is automatic
}

// currentMachine returns the chosen machine, else the local one, else the first that is online.
func (c *conversation) currentMachine() protocol.NodeID {
	id := c.machine
	if id == "" {
		for _, n := range c.state.Nodes {
			if n.Online && (id == "" || n.Local) {
				id = n.ID
			}
		}
	}
	return id
}

// source returns the whole text of the message that a row belongs to.
func (c *conversation) source(d messageData) string {
	if m := c.state.storedMessage(d.id); m != nil {
		return m.Content.Text()
	}
	for _, r := range c.state.Runs {
		if r.RunID == d.run && d.run != "" {
			return r.Text
		}
	}
	return d.text
}

// withPictures calls a function with the pictures of a message, if the chat is still open then.
func (c *conversation) withPictures(content protocol.Content, do func([]protocol.Attachment)) {
	if imageKeys(content) == "" {
		do(nil)
		return
	}
	key := c.state.Session.SessionKey
	c.handlers.Pictures(content, func(list []protocol.Attachment) {
		if c.state.Session.SessionKey == key {
			do(list)
		}
	})
}

// answer answers a pending approval.
func (c *conversation) answer(id protocol.QuestionID, decision string) {
	for _, q := range c.state.Approvals {
		if q.ID == id {
			c.handlers.Answer(q, decision)
		}
	}
}
