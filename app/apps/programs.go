package apps

import (
	"context"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/clients"
	"fairlead/gateway/peer/diff"
	"fairlead/gateway/protocol"
)

// ClientPrograms connects MCP clients of this computer, such as Claude Code, to its gateway. Its
// methods block.
type ClientPrograms struct {
	Feed     *feed.Feed
	Home     string                                 // data folder
	Find     func() ([]clients.Client, error)       // lists the known clients
	Command  string                                 // path of the program fairlead
	Argument func(c clients.Client) (list []string) // with which a client starts it
}

// ClientChange is what connecting a client would change.
type ClientChange struct {
	Client clients.Client
	Diff   string // of its settings; empty if they stay
	change clients.Change
}

// Path is the file of the client's settings.
func (c ClientChange) Path() string { return c.change.Path }

// Offers lists the clients on this computer that do not have Fairlead.
func (p *ClientPrograms) Offers(context.Context) ([]clients.Client, error) {
	all, err := p.Find()
	return lists.Without(all, func(c clients.Client) bool { return !c.IsInstalled() || c.HasFairlead() }), err
}

// Prepare returns what connecting a client would change.
func (p *ClientPrograms) Prepare(_ context.Context, c clients.Client) (ClientChange, error) {
	change, err := c.Add(p.Command, p.Argument(c)...)
	if err != nil {
		return ClientChange{}, err
	}
	out := ClientChange{Client: c, change: change}
	if change.New != nil {
		out.Diff = diff.New("before", "after", change.Before, change.New).Text
	}
	return out, nil
}

// Connect gives a client a token and makes the change.
func (p *ClientPrograms) Connect(ctx context.Context, c ClientChange) error {
	return clients.Access{Home: p.Home, Gateway: appGateway{Model{p.Feed}}}.Install(ctx, c.Client, c.change)
}

// appGateway implements [clients.Gateway].
type appGateway struct{ Model }

// Apps implements [clients.Gateway].
func (g appGateway) Apps(ctx context.Context) ([]protocol.App, error) {
	r, err := feed.Call(ctx, g.feed, protocol.AppsList, protocol.Empty{})
	return r.Apps, err
}

// RevokeApp implements [clients.Gateway].
func (g appGateway) RevokeApp(ctx context.Context, id protocol.AppID) error {
	return g.Revoke(ctx, id)
}
