package mcp

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
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
	var senders crash.Group
	defer senders.Wait()
	senders.Go(func() { crash.Forever(ctx, func() { s.expireAll(ctx) }) })
	senders.Go(func() { crash.Forever(ctx, func() { s.pollFiles(ctx) }) })
	machines := make(lists)
	for change := range s.changes.All(ctx) {
		if n := change.Node; n != nil && change.Kind == protocol.ChangeNode && !machines.recordItem(string(n.ID), resourceView(*n)) {
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

// resourceView returns what the resources show of a machine.
func resourceView(n protocol.NodeInfo) protocol.NodeInfo {
	n.PingMs, n.PingAt, n.LastSeenAt = 0, 0, 0
	return n
}

// record notes what a change makes out of date. It reports whether the caller must start notify.
func (c *client) record(change protocol.Change) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for uri := range c.affectedAddresses(change) {
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

// affectedAddresses returns the addresses of the resources that a change is about. The caller holds
// c.mu.
func (c *client) affectedAddresses(change protocol.Change) map[string]bool {
	uris := make(map[string]bool)
	if n := change.Node; n != nil && tool.CheckAccess(c.principal, n.ID) == nil {
		uris[machinesURI], uris[machineURI(n.ID)] = true, true
	}
	for _, d := range c.documents {
		if slices.Contains(d.changes, change.Kind) {
			uris[d.uri()] = true
		}
	}
	if change.Kind == protocol.ChangeResync { // anything may have changed
		for uri := range c.contents {
			uris[uri] = true
		}
	}
	return uris
}

// markDirty notes that a resource has changed. It reports whether the caller must start notify.
func (c *client) markDirty(uri string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dirty[uri] = true
	if c.notifying {
		return false
	}
	c.notifying = true
	return true
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
		c.mu.Unlock()
		crash.Run("notifications of resources", func() { c.announce(ctx, uris) })
		select {
		case <-time.After(settle):
		case <-ctx.Done():
		}
	}
}

// announce reads the lists again if they are out of date, and notifies the subscribers of
// resources.
func (c *client) announce(ctx context.Context, uris []string) {
	func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refresh()
	}()
	for _, uri := range uris {
		if c.isWatchable(uri) {
			c.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}) // subscribers that are gone get none
		}
	}
}

// isListed reports whether a resource is in the list, which has those that the client may read.
func (c *client) isListed(uri string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.contents[uri] != "" || slices.Contains(c.watchable, uri)
}

// isWatchable reports whether a resource is in the list, or is a file that the client watches.
func (c *client) isWatchable(uri string) bool {
	return c.files.has(uri) || c.isListed(uri)
}

// subscribe accepts a subscription to a resource of the list or to a file; the SDK keeps it.
func (c *client) subscribe(ctx context.Context, r *mcp.SubscribeRequest) error {
	if c.isListed(r.Params.URI) {
		return nil
	}
	return c.watchFile(ctx, r.Session, who(r.Extra), r.Params.URI)
}

// watchableOnly removes what cannot be watched from a request to listen, whose answer lists what is
// left.
func (c *client) watchableOnly(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if p, ok := r.GetParams().(*mcp.SubscriptionsListenParams); ok && p.Notifications != nil {
			session, _ := r.GetSession().(*mcp.ServerSession)
			p.Notifications.ResourceSubscriptions = slices.DeleteFunc(p.Notifications.ResourceSubscriptions, func(uri string) bool {
				return !c.isListed(uri) && c.watchFile(ctx, session, who(r.GetExtra()), uri) != nil
			})
		}
		return next(ctx, method, r)
	}
}
