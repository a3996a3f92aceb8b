package mcp

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

// settle is the least time between two notifications of a client: many changes at once are one.
const settle = time.Second

// isWatched selects the changes that clients are notified of, or that change their lists.
func isWatched(c protocol.Change) bool {
	switch c.Kind {
	case protocol.ChangeNode, protocol.ChangeNodeForgotten, protocol.ChangeTransfer, protocol.ChangeTransferRemoved, protocol.ChangeSkills,
		protocol.ChangeConfig, protocol.ChangeServers, protocol.ChangeApps, protocol.ChangeResync:
		return true
	case protocol.ChangeCall:
		return !c.MayDrop() // the output of a running call is not in the journal
	}
	return false
}

// Run notifies clients of changes, and ends sessions and requests whose time is over, until ctx
// ends.
func (s *Server) Run(ctx context.Context) {
	defer s.changes.Close()
	var senders sync.WaitGroup
	defer senders.Wait()
	senders.Go(func() { s.expireAll(ctx) })
	machines := make(lists)
	for change := range s.changes.All(ctx) {
		if n := change.Node; n != nil && change.Kind == protocol.ChangeNode && !machines.changed(string(n.ID), described(*n)) {
			continue // only its ping, which no resource shows
		}
		if change.Kind == protocol.ChangeApps || change.Kind == protocol.ChangeResync {
			s.endStreams()
		}
		for _, c := range s.all() {
			if c.record(change) {
				senders.Go(func() { c.notify(ctx) })
			}
		}
	}
}

// described returns what the resources show of a machine.
func described(n protocol.NodeInfo) protocol.NodeInfo {
	n.PingMs, n.PingAt, n.LastSeenAt = 0, 0, 0
	return n
}

// record notes what a change makes out of date. It reports whether the caller must start notify.
func (c *client) record(change protocol.Change) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for uri := range c.affected(change) {
		c.dirty[uri] = true
	}
	switch change.Kind {
	case protocol.ChangeCall, protocol.ChangeTransfer, protocol.ChangeTransferRemoved, protocol.ChangeApps:
	default:
		c.stale = true
	}
	if !c.hasSessions() {
		clear(c.dirty) // nobody is subscribed
		return false
	}
	if c.notifying || !c.stale && len(c.dirty) == 0 {
		return false
	}
	c.notifying = true
	return true
}

// affected returns the addresses of the resources that a change is about. The caller holds c.mu.
func (c *client) affected(change protocol.Change) map[string]bool {
	uris := make(map[string]bool)
	if n := change.Node; n != nil && c.principal.MayUse(n.ID) {
		uris[machinesURI], uris[machineURI(n.ID)] = true, true
	}
	for _, d := range c.o.Documents {
		if slices.Contains(d.Changes, change.Kind) {
			uris[d.URI] = true
		}
	}
	if change.Kind == protocol.ChangeResync { // anything may have changed
		for uri := range c.contents {
			uris[uri] = true
		}
	}
	return uris
}

func (c *client) hasSessions() bool {
	for range c.server.Sessions() {
		return true
	}
	return false
}

// notify reports what has changed, at most once in settle, until nothing is left or ctx ends. A
// client that does not read delays only its own notifications.
func (c *client) notify(ctx context.Context) {
	for {
		c.mu.Lock()
		uris := slices.Sorted(maps.Keys(c.dirty))
		clear(c.dirty)
		if !c.stale && len(uris) == 0 || ctx.Err() != nil {
			c.notifying = false
			c.mu.Unlock()
			return
		}
		c.refresh()
		c.mu.Unlock()
		for _, uri := range uris {
			if c.mayWatch(uri) {
				c.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}) // subscribers that are gone get none
			}
		}
		select {
		case <-time.After(settle):
		case <-ctx.Done():
		}
	}
}

// mayWatch reports whether the client can subscribe to a resource: those of the list, which are
// those that it may read. Files cannot be watched.
func (c *client) mayWatch(uri string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.contents[uri] != "" || slices.Contains(c.watchable, uri)
}

// subscribe accepts a subscription; the SDK keeps it.
func (c *client) subscribe(_ context.Context, r *mcp.SubscribeRequest) error {
	if !c.mayWatch(r.Params.URI) {
		return mcp.ResourceNotFoundError(r.Params.URI)
	}
	return nil
}

// watchableOnly removes what cannot be watched from a request to listen, whose answer lists what is
// left.
func (c *client) watchableOnly(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if p, ok := r.GetParams().(*mcp.SubscriptionsListenParams); ok && p.Notifications != nil {
			p.Notifications.ResourceSubscriptions = slices.DeleteFunc(p.Notifications.ResourceSubscriptions, func(uri string) bool { return !c.mayWatch(uri) })
		}
		return next(ctx, method, r)
	}
}
