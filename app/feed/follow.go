package feed

import (
	"context"
	"strings"

	"fairlead/gateway/protocol"
)

// follower applies what the gateway sends, and loads what it does not send.
type follower struct{ feed *Feed }

func (to follower) snapshot(s protocol.FeedSnapshot) {
	to.feed.ApplySnapshot(s)
	to.feed.OnSnapshot()
	if n := len(s.Sessions); n >= protocol.MaxSnapshotSessions {
		to.feed.Tasks.StartRequest(func(ctx context.Context) { to.loadOlderChats(ctx, n) })
	}
	to.loadModels()
	to.feed.LoadPairing()
	to.feed.LoadApps()
	to.feed.LoadServers()
	to.feed.WaysIn.Load()
	to.resumeLocalTransfers(s.Transfers)
}

func (to follower) apply(c protocol.Change) {
	to.feed.Apply(c)
	to.feed.OnChange(c)
	if to.feed.WaysIn.mayChange(c) {
		to.feed.WaysIn.Load()
	}
	switch c.Kind {
	case protocol.ChangeDevices:
		to.feed.LoadPairing()
	case protocol.ChangeApps:
		to.feed.LoadApps()
	case protocol.ChangeServers:
		to.feed.LoadServers()
	case protocol.ChangeConfig:
		if top, _, _ := strings.Cut(c.Path, "."); top == "model" || top == "apiKeys" || top == "providers" {
			to.loadModels()
		}
	}
}
