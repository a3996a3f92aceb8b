package rpc

import (
	"context"
	"sync"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
)

// pusher sends changes to one client until it is stopped.
type pusher struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func (p *pusher) stop() {
	p.cancel()
	p.wg.Wait()
}

// push starts sending: the feed, or the chat events of the seed. A pusher that runs already is stopped first.
func (c *Conn) push(feed bool) {
	sub := c.srv.s.Bus.Subscribe()
	c.startPush(sub, feed)
}

func (c *Conn) startPush(sub *event.Subscription, feed bool) {
	ctx, cancel := context.WithCancel(c.ctx)
	p := &pusher{cancel: cancel}
	c.mu.Lock()
	old := c.pusher
	c.pusher = p
	c.mu.Unlock()
	if old != nil {
		old.stop()
	}
	p.wg.Go(func() {
		defer sub.Close()
		for change := range sub.All(ctx) {
			if feed && change.Kind != protocol.ChangeChat {
				c.sendChange(change)
			} else if !feed && change.Kind == protocol.ChangeChat {
				c.sendChat(*change.Chat)
			}
		}
	})
}

func (c *Conn) sendChange(change protocol.Change) {
	c.mu.Lock()
	c.feedSeq++
	seq := c.feedSeq
	c.mu.Unlock()
	frame, err := protocol.EncodeEvent(protocol.EventFeed, change, seq)
	if err != nil || len(frame) > protocol.MaxWriteFrame {
		// Too big for a frame: the client loads the state anew instead.
		frame, _ = protocol.EncodeEvent(protocol.EventFeed, protocol.Change{Kind: protocol.ChangeResync}, seq)
	}
	c.send(frame)
}

// sendChat sends a chat event in the peer's own spelling of the session key.
func (c *Conn) sendChat(e protocol.ChatEvent) {
	c.mu.Lock()
	if own, ok := c.spelling[e.SessionKey]; ok {
		e.SessionKey = own
	}
	c.mu.Unlock()
	if frame, err := protocol.EncodeEvent(protocol.EventChat, e, 0); err == nil && len(frame) <= protocol.MaxWriteFrame {
		c.send(frame)
	}
}

// spell remembers how the peer writes a session key, and returns the canonical form.
func (c *Conn) spell(key protocol.SessionKey) protocol.SessionKey {
	canonical := c.srv.s.Canonical(key)
	c.mu.Lock()
	c.spelling[canonical] = key
	c.mu.Unlock()
	return canonical
}

// subscribe answers feed.subscribe: the state as it is, and from then on every change. Changes that happen while the state is
// gathered come afterwards once more, which does no harm.
func (s *Server) subscribe(ctx context.Context, c *Conn, _ protocol.Empty) (protocol.FeedSnapshot, error) {
	sub := s.s.Bus.Subscribe()
	snap, err := s.snapshot(ctx)
	if err != nil {
		sub.Close()
		return snap, err
	}
	c.mu.Lock()
	old := c.pusher
	c.pusher = nil
	c.mu.Unlock()
	if old != nil {
		old.stop() // nothing may be numbered between here and the snapshot's answer
	}
	c.mu.Lock()
	snap.Seq = c.feedSeq
	c.mu.Unlock()
	afterResponse(ctx, func() { c.startPush(sub, true) })
	return snap, nil
}

func (s *Server) snapshot(ctx context.Context) (protocol.FeedSnapshot, error) {
	var snap protocol.FeedSnapshot
	var err error
	if snap.Sessions, snap.Runs, err = s.s.Sessions.Snapshot(ctx); err != nil {
		return snap, err
	}
	if snap.Approvals, err = s.s.Approvals.Pending(ctx); err != nil {
		return snap, err
	}
	snap.Nodes, snap.Calls, snap.Status = s.s.Nodes.Nodes(), s.s.Tools.Running(), s.s.Status(ctx)
	return snap, nil
}
