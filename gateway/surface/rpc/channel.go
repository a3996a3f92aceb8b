package rpc

import (
	"context"

	"fairlead/gateway/channel"
	"fairlead/gateway/protocol"
)

// Channels manages the chat networks.
type Channels interface {
	Attach(p protocol.ConnectParams, link channel.Link) (ready, detach func(), err error)
	Inbound(ctx context.Context, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error)
	Delivered(channel, account string, in protocol.ChannelDeliveredParams) (protocol.Ack, error)
	List(ctx context.Context, in protocol.Empty) (protocol.ChannelsListResult, error)
	Start(ctx context.Context, in protocol.ChannelStartParams) (protocol.ChannelOK, error)
	Stop(ctx context.Context, in protocol.ChannelParams) (protocol.ChannelOK, error)
	Status(ctx context.Context, in protocol.ChannelParams) (protocol.ChannelStatusResult, error)
	Login(ctx context.Context, in protocol.ChannelLoginParams) (protocol.ChannelLoginResult, error)
	Logout(ctx context.Context, in protocol.ChannelParams) (protocol.ChannelOK, error)
	Pairs(ctx context.Context, in protocol.Empty) (protocol.PairListResult, error)
	Approve(ctx context.Context, by string, in protocol.PairParams) (protocol.PairApproveResult, error)
	Reject(ctx context.Context, by string, in protocol.PairParams) (protocol.PairRejectResult, error)
}

// channels registers the methods of the protocol for channels and pairing.
func (s *Server) channels(all map[string]handler) {
	handle(all, protocol.ChannelInbound, s.inbound)
	handle(all, protocol.ReportDelivery, func(_ context.Context, c *Conn, in protocol.ChannelDeliveredParams) (protocol.Ack, error) {
		name, account := c.account()
		return s.s.Channels.Delivered(name, account, in)
	})
	handle(all, protocol.ChannelsList, plain(s.s.Channels.List))
	handle(all, protocol.ChannelStart, plain(s.s.Channels.Start))
	handle(all, protocol.ChannelStop, plain(s.s.Channels.Stop))
	handle(all, protocol.ChannelStatus, plain(s.s.Channels.Status))
	handle(all, protocol.ChannelLogin, plain(s.s.Channels.Login))
	handle(all, protocol.ChannelLogout, plain(s.s.Channels.Logout))
	handle(all, protocol.PairList, plain(s.s.Channels.Pairs))
	handle(all, protocol.PairApprove, func(ctx context.Context, c *Conn, in protocol.PairParams) (protocol.PairApproveResult, error) {
		return s.s.Channels.Approve(ctx, c.who().String(), in)
	})
	handle(all, protocol.PairReject, func(ctx context.Context, c *Conn, in protocol.PairParams) (protocol.PairRejectResult, error) {
		return s.s.Channels.Reject(ctx, c.who().String(), in)
	})
}

// attachChannel registers the connection as a channel, for one account of one channel only.
func (c *Conn) attachChannel(ctx context.Context, p *protocol.ConnectParams) error {
	if p.Client.ID == "" {
		return protocol.ErrInvalidConnect.With("Client id required")
	}
	if err := channel.Name(p); err != nil {
		return err
	}
	ready, detach, err := c.srv.s.Channels.Attach(*p, c)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.detach = detach
	c.mu.Unlock()
	afterResponse(ctx, ready)
	return nil
}

// account returns the channel and the account of a connection in channel mode.
func (c *Conn) account() (channel, account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.params.Client.Channel, c.params.Client.AccountID
}

// inbound takes a message from a channel. Unlike in the original system, a channel may speak only
// for its own account.
func (s *Server) inbound(ctx context.Context, c *Conn, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error) {
	name, account := c.account()
	same := protocol.ConnectParams{Client: protocol.ClientInfo{Channel: in.Channel, AccountID: in.AccountID}}
	if in.Channel != "" && in.AccountID != "" && (channel.Name(&same) != nil || same.Client.Channel != name || same.Client.AccountID != account) {
		return protocol.ChannelInboundResult{}, protocol.ErrForbidden.With("This connection speaks for " + name + ":" + account + " only.")
	}
	return s.s.Channels.Inbound(context.WithoutCancel(ctx), in)
}
