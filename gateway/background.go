package gateway

import (
	"context"
	"errors"

	"fairlead/gateway/protocol"
)

// chats forwards the reports of nodes to the chats. If the chat is on a channel, the answer goes
// there.
type chats struct{ g *Gateway }

// Tell implements background.Chats.
func (c chats) Tell(ctx context.Context, chat protocol.SessionKey, run, after protocol.RunID, by protocol.AskedBy, e protocol.ExecCompletion) error {
	if _, err := c.g.store.Run(ctx, run); err == nil {
		return protocol.ErrConflict // reported before, to the channel too
	} else if !errors.Is(err, protocol.ErrNotFound) {
		return err
	}
	if err := c.g.channels.Follow(ctx, chat, run, after); err != nil {
		return err
	}
	err := c.g.sessions.Tell(ctx, chat, run, after, by, e)
	if err != nil && !errors.Is(err, protocol.ErrConflict) {
		c.g.channels.Unfollow(ctx, run)
	}
	return err
}
