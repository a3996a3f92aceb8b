package rpc

import (
	"context"

	"github.com/gorilla/websocket"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
)

// pusher sends changes to one client until it is stopped.
type pusher struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func (p *pusher) stop() {
	p.cancel()
	<-p.done
}

func inFeed(c protocol.Change) bool { return c.Kind != protocol.ChangeChat }

// pushChat starts to send chat events, with deltas only when the client asked for them. A client
// that is thousands of events behind could miss the end of its run unnoticed, so its connection is
// closed instead.
func (c *Conn) pushChat(deltas bool) {
	wanted := func(change protocol.Change) bool {
		return change.Kind == protocol.ChangeChat && (deltas || change.Chat.State != protocol.ChatDelta)
	}
	c.push(c.srv.s.Bus.SubscribeOnly(wanted), func(change protocol.Change) {
		if change.Kind == protocol.ChangeResync {
			c.Close(websocket.CloseTryAgainLater, "too slow")
			return
		}
		c.sendChat(*change.Chat)
	})
}

// push sends the changes of sub until the connection ends or another pusher replaces it.
func (c *Conn) push(sub *event.Subscription, send func(protocol.Change)) {
	ctx, cancel := context.WithCancel(c.ctx)
	p := &pusher{cancel: cancel, done: make(chan struct{})}
	c.mu.Lock()
	old := c.pusher
	c.pusher = p
	c.mu.Unlock()
	if old != nil {
		old.stop()
	}
	c.wg.Go(func() {
		defer close(p.done)
		defer cancel()
		defer sub.Close()
		for change := range sub.All(ctx) {
			send(change)
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
		// Too large for a frame: the client loads the state again instead.
		frame, _ = protocol.EncodeEvent(protocol.EventFeed, protocol.Change{Kind: protocol.ChangeResync}, seq)
	}
	c.send(c.ctx, frame)
}

// sendChat sends a chat event in the peer's own spelling of the session key.
func (c *Conn) sendChat(e protocol.ChatEvent) {
	c.mu.Lock()
	if own, ok := c.spelling[e.SessionKey]; ok {
		e.SessionKey = own
	}
	c.mu.Unlock()
	if frame, err := protocol.EncodeEvent(protocol.EventChat, e, 0); err == nil && len(frame) <= protocol.MaxWriteFrame {
		c.send(c.ctx, frame)
	}
}

// spell stores the peer's spelling of a session key, and returns the canonical key.
func (c *Conn) spell(key protocol.SessionKey) protocol.SessionKey {
	canonical := c.srv.s.Canonical(key)
	c.mu.Lock()
	c.spelling[canonical] = key
	c.mu.Unlock()
	return canonical
}

// subscribed reports whether the peer follows the feed, and so sees new approvals.
func (c *Conn) subscribed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.feed
}

// feedMethods are the methods for the feed and the gateway's state.
type feedMethods struct{ Services }

func (m feedMethods) register(all methods) {
	handle(all, protocol.FeedSubscribe, m.subscribe)
	handle(all, protocol.StatusGet, func(ctx context.Context, _ *request, _ protocol.Empty) (protocol.Status, error) {
		return m.Status(ctx), nil
	})
	handle(all, protocol.AgentPause, func(ctx context.Context, _ *request, p protocol.PauseParams) (protocol.Status, error) {
		return m.Pause(ctx, p.Paused)
	})
}

// subscribe answers feed.subscribe with a snapshot; every later change follows. Changes that happen
// while the snapshot is made are sent again after it, which does no harm.
func (m feedMethods) subscribe(ctx context.Context, r *request, _ protocol.Empty) (protocol.FeedSnapshot, error) {
	sub := m.Bus.SubscribeOnly(inFeed)
	snap, err := m.snapshot(ctx)
	if err != nil {
		sub.Close()
		return snap, err
	}
	r.conn.mu.Lock()
	old := r.conn.pusher
	r.conn.pusher, r.conn.feed = nil, true
	r.conn.mu.Unlock()
	if old != nil {
		old.stop() // no event may be numbered between here and the response with the snapshot
	}
	r.conn.mu.Lock()
	snap.Seq = r.conn.feedSeq
	r.conn.mu.Unlock()
	r.afterResponse(func() { r.conn.push(sub, r.conn.sendChange) })
	return snap, nil
}

func (m feedMethods) snapshot(ctx context.Context) (snap protocol.FeedSnapshot, err error) {
	if snap.Sessions, snap.Runs, err = m.Sessions.Snapshot(ctx); err != nil {
		return snap, err
	}
	if snap.Approvals, err = m.Approvals.Pending(ctx); err != nil {
		return snap, err
	}
	snap.Sessions, snap.Runs, snap.Approvals = list(snap.Sessions), list(snap.Runs), list(snap.Approvals)
	snap.Transfers = m.Transfers.Open()
	snap.Nodes, snap.Calls, snap.Status = list(m.Nodes.Nodes()), list(m.Tools.Running()), m.Status(ctx)
	return snap, nil
}
