package apps

import (
	"context"
	"errors"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// Model reads and changes the connected apps. Its methods are safe for concurrent use.
type Model struct{ feed *feed.Feed }

// CreateToken makes a token and returns it. It blocks.
func (s Model) CreateToken(ctx context.Context, p protocol.TokenCreateParams) (protocol.TokenCreateResult, error) {
	return feed.Call(ctx, s.feed, protocol.TokenCreate, p)
}

// Update changes an app and returns a function that undoes that. It blocks.
func (s Model) Update(ctx context.Context, a protocol.App, p protocol.AppUpdateParams) (undo func(), err error) {
	p.ID = a.ID
	if err := feed.Send(ctx, s.feed, protocol.AppUpdate, p); err != nil {
		return nil, err
	}
	nodes := append([]protocol.NodeID{}, a.Nodes...)
	before := protocol.AppUpdateParams{ID: a.ID, Name: &a.Name, Scopes: &a.Scopes, Nodes: &nodes}
	return func() { feed.Start(s.feed, protocol.AppUpdate, before) }, nil
}

// maxLastCalls is the number of an app's calls that its page shows.
const maxLastCalls = 10

// LastCalls returns an app's newest calls of tools, at most ten. It blocks.
func (s Model) LastCalls(ctx context.Context, id protocol.AppID) ([]protocol.JournalEntry, error) {
	r, err := feed.Call(ctx, s.feed, protocol.JournalList, protocol.JournalListParams{App: id, Limit: maxLastCalls})
	return r.Calls, err
}

// StopCommand stops a running command of an app. It is no failure that the command has ended
// meanwhile. It blocks.
func (s Model) StopCommand(ctx context.Context, id string) error {
	err := feed.Send(ctx, s.feed, protocol.AppStop, protocol.AppStopParams{ID: id})
	if errors.Is(err, protocol.ErrNotFound) {
		s.feed.LoadApps()
		return nil
	}
	return err
}

// Revoke ends an app's access at once, which cannot be undone. It blocks.
func (s Model) Revoke(ctx context.Context, id protocol.AppID) error {
	return feed.Send(ctx, s.feed, protocol.AppRevoke, protocol.AppParams{ID: id})
}
