package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"fairlead/gateway/channel"
	"fairlead/gateway/channel/xmpp"
	"fairlead/gateway/cron"
	"fairlead/gateway/native"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session"
)

// drivers are the chat networks that the gateway can reach by itself.
func drivers() []channel.Driver { return []channel.Driver{xmpp.Driver{}} }

// route finds the chat of a message from a channel.
func (g *Gateway) route(channel, account, kind, id string) (protocol.AgentID, protocol.SessionKey) {
	return g.sessions.Route(session.Peer{Channel: channel, Account: account, Kind: kind, ID: id})
}

// message is what gsv__Message does.
func (g *Gateway) message(ctx context.Context, from protocol.SessionKey, in native.MessageIn) (any, error) {
	return g.channels.Say(ctx, from, channel.Words{Text: in.Text, Channel: in.Channel, AccountID: in.AccountID, To: in.To, Kind: in.PeerKind, ReplyTo: in.ReplyToID})
}

// deliver brings the answer of a job to the person: to the channel or receiver it names, else into the main chat and to whom that was with
// last over a channel.
func (g *Gateway) deliver(ctx context.Context, d cron.Delivery) (string, error) {
	home := g.config.Get().Session.Main(d.Agent)
	if d.Channel != "" || d.To != "" {
		said, err := g.channels.Say(ctx, home, channel.Words{Text: d.Text, Channel: d.Channel, To: d.To})
		return fmt.Sprintf("%s on %s", said.To, said.Channel), err
	}
	where, err := cron.ToMain(ctx, g.store, g.bus, home, d)
	if err != nil {
		return where, err
	}
	if said, err := g.channels.Say(ctx, home, channel.Words{Text: d.Text}); err == nil {
		where += fmt.Sprintf(" and %s on %s", said.To, said.Channel)
	}
	return where, nil
}

// heartbeatFile is what an agent has to look after.
func (g *Gateway) heartbeatFile(agent protocol.AgentID) (string, error) {
	f, _, err := g.files.Read(agent, "HEARTBEAT.md")
	switch {
	case errors.Is(err, protocol.ErrNotFound), err == nil && f == nil:
		return "", fs.ErrNotExist
	case err != nil:
		return "", err
	}
	return string(f.Data), nil
}

func (g *Gateway) lastActive(agent protocol.AgentID) *protocol.LastActive {
	return g.channels.LastActive(context.Background(), agent)
}
