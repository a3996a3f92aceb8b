package app

import (
	"context"
	"time"

	"fairlead/app/bind"
	"fairlead/gateway/protocol"
)

// openHit shows a message that was found, in its chat.
func (s *shell) openHit(h protocol.SearchHit) {
	s.open(h.SessionKey)
	s.conversation.reveal(h.MessageID, h.Seq)
}

// reachTime is how long loading back to a message may take; a chat that was left never gets there.
const reachTime = time.Minute

// reveal scrolls to a message. What lies between is loaded first.
func (c *conversation) reveal(id protocol.MessageID, seq int64) {
	to := c.chat
	c.pane.Reveal(id)
	if c.pane.Wanted() == "" {
		return
	}
	ctx, cancel := context.WithTimeout(c.s.ctx, reachTime)
	bind.Go(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, to.Reach(ctx, seq) }, func(_ struct{}, err error) {
		cancel()
		if c.chat != to || c.pane.Wanted() != id {
			return
		}
		if err == nil {
			c.showChat(to.Value.Get())
		}
		if c.pane.Wanted() != id {
			return
		}
		c.pane.Reveal("")
		if err != nil {
			c.s.say("The message cannot be shown: " + err.Error())
			return
		}
		c.s.say("The message is not in this chat any more.")
	})
}
