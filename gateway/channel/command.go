package channel

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// isOwner reports whether a message was written by one of the channel's owners. It is true only for
// direct messages, because anybody in a room could use an owner's name.
func isOwner(c config.Channel, in protocol.ChannelInboundParams, sender string) bool {
	id := config.SenderID(in.Channel, sender)
	return in.Peer.Kind == protocol.PeerDM && id != "" &&
		slices.ContainsFunc(c.Owners, func(o string) bool { return config.SenderID(in.Channel, o) == id })
}

// command runs the owner's command once and replies to them. ok is false if the message is for the
// agent.
func (h *Hub) command(ctx context.Context, p auth.Principal, chat protocol.SessionKey, to store.Route, run protocol.RunID,
	in protocol.ChannelInboundParams,
) (res protocol.ChannelInboundResult, ok bool, err error) {
	id := "reply:" + string(run)
	switch _, err := h.o.Store.Outbox.Get(ctx, id); {
	case err == nil:
		return protocol.ChannelInboundResult{Status: protocol.InboundDuplicate, SessionKey: chat}, true, nil
	case !errors.Is(err, protocol.ErrNotFound):
		return res, false, err
	}
	done, ok := h.o.Sessions.Command(ctx, p, chat, in.Message.Text, len(in.Message.Media) > 0)
	if !ok {
		return res, false, nil
	}
	res = protocol.ChannelInboundResult{Status: done.Status, SessionKey: chat, Directives: done.Directives, Command: done.Command, Response: cmp.Or(done.Error, done.Response)}
	return res, true, h.outbox.put(ctx, id, outboundTo(to, chat, res.Response))
}
