package rpc

import (
	"context"

	"fairlead/gateway/channel"
	"fairlead/gateway/protocol"
)

// channelMethods are the methods for channels and the pairing of people on them.
type channelMethods struct{ channels *channel.Hub }

func (m channelMethods) register(all methods) {
	handle(all, protocol.ChannelInbound, m.inbound)
	handle(all, protocol.ReportDelivery, func(_ context.Context, r *request, in protocol.ChannelDeliveredParams) (protocol.Ack, error) {
		name, account := r.conn.account()
		return m.channels.Delivered(name, account, in)
	})
	handle(all, protocol.ChannelsList, plain(m.channels.List))
	handle(all, protocol.ChannelStart, plain(m.channels.Start))
	handle(all, protocol.ChannelStop, plain(m.channels.Stop))
	handle(all, protocol.ChannelStatus, plain(m.channels.Status))
	handle(all, protocol.ChannelLogin, plain(m.channels.Login))
	handle(all, protocol.ChannelLogout, plain(m.channels.Logout))
	handle(all, protocol.PairList, plain(m.channels.Pairs))
	handle(all, protocol.PairApprove, func(ctx context.Context, r *request, in protocol.PairParams) (protocol.PairApproveResult, error) {
		return m.channels.Approve(ctx, r.conn.principal().String(), in)
	})
	handle(all, protocol.PairReject, func(ctx context.Context, r *request, in protocol.PairParams) (protocol.PairRejectResult, error) {
		return m.channels.Reject(ctx, r.conn.principal().String(), in)
	})
}

// inbound takes a message from a channel. Unlike in the original system, a channel may speak only
// for its own account.
func (m channelMethods) inbound(ctx context.Context, r *request, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error) {
	name, account := r.conn.account()
	same := protocol.ConnectParams{Client: protocol.ClientInfo{Channel: in.Channel, AccountID: in.AccountID}}
	if in.Channel != "" && in.AccountID != "" && (channel.Name(&same) != nil || same.Client.Channel != name || same.Client.AccountID != account) {
		return protocol.ChannelInboundResult{}, protocol.ErrForbidden.With("This connection speaks for " + name + ":" + account + " only.")
	}
	return m.channels.Inbound(context.WithoutCancel(ctx), in)
}
