package channel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Limits of incoming messages.
const (
	maxText  = 64 << 10 // bytes of a message's text; the rest is cut off with a note
	maxQuote = 500      // runes of a quoted message
	maxMedia = 16       // files per message
	maxFile  = 10 << 20 // bytes per file
)

// Inbound accepts a message that somebody wrote on a channel (channel.inbound): it checks the
// sender's access, finds the chat, and passes the message to the agent there. The text is input for
// the agent and never a command, except in a direct message of one of the channel's owners.
func (h *Hub) Inbound(ctx context.Context, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error) {
	var res protocol.ChannelInboundResult
	name, err := channelName(in.Channel)
	if err != nil {
		return res, err
	}
	account := accountID(in.AccountID)
	if err := checkInbound(in); err != nil {
		return res, err
	}
	in.Channel, in.AccountID = name, account
	sender := in.Peer.ID
	if in.Sender != nil && in.Sender.ID != "" {
		sender = in.Sender.ID
	}
	if in.Peer.Kind != protocol.PeerDM && in.WasMentioned != nil && !*in.WasMentioned {
		return protocol.ChannelInboundResult{Status: protocol.InboundIgnored, Reason: "the agent was not mentioned"}, nil
	}
	if !h.rate.allow(name, sender) {
		return protocol.ChannelInboundResult{Status: protocol.InboundBlocked, Reason: "too many messages in a minute"}, nil
	}
	cfg := h.o.Config()
	verdict, err := h.checkAccess(ctx, cfg.Channels[name], in, sender)
	if err != nil || verdict != nil {
		return deref(verdict), err
	}
	who := sender
	if in.Peer.Kind != protocol.PeerDM {
		who = in.Peer.ID
	}
	agent, chat := h.o.Route(name, account, in.Peer.Kind, who)
	h.recordActivity(ctx, name, account)
	run := runID(name, account, in)
	if _, err := h.o.Store.Runs.Get(ctx, run); err == nil {
		return protocol.ChannelInboundResult{Status: protocol.InboundDuplicate, SessionKey: chat, RunID: run}, nil
	} else if !errors.Is(err, protocol.ErrNotFound) {
		return res, err
	}
	route := store.Route{Channel: name, AccountID: account, Peer: in.Peer}
	if in.Peer.Kind != protocol.PeerDM {
		route.ReplyToID = in.Message.ID
	}
	writer := auth.ChannelSender(name, sender)
	if isOwner(cfg.Channels[name], in, sender) {
		writer = auth.ChannelOwner(name, sender)
		if res, ok, err := h.command(ctx, writer, chat, route, run, in); ok || err != nil {
			return res, err
		}
	}
	text, attached := h.compose(cfg, agent, in, h.fetch(ctx, &in))
	f := &following{ChannelRun: store.ChannelRun{Run: run, Session: chat, Route: route}}
	if err := h.o.Store.Channels.StartRun(ctx, f.ChannelRun, now()); err != nil {
		return res, err
	}
	h.follower.add(f)
	sent, err := h.o.Sessions.Send(ctx, writer, protocol.ChatSendParams{SessionKey: chat, Message: text, RunID: run, Attachments: attached})
	if errors.Is(err, protocol.ErrConflict) {
		return protocol.ChannelInboundResult{Status: protocol.InboundDuplicate, SessionKey: chat, RunID: run}, nil
	}
	if err != nil {
		h.follower.forget(ctx, run)
		return res, err
	}
	h.nameChat(ctx, chat, in)
	return protocol.ChannelInboundResult{Status: sent.Status, SessionKey: chat, RunID: sent.RunID, Directives: sent.Directives}, nil
}

func deref(r *protocol.ChannelInboundResult) protocol.ChannelInboundResult {
	if r == nil {
		return protocol.ChannelInboundResult{}
	}
	return *r
}

func outboundTo(r store.Route, chat protocol.SessionKey, text string) protocol.ChannelOutbound {
	return protocol.ChannelOutbound{
		Channel: r.Channel, AccountID: r.AccountID, Peer: r.Peer, SessionKey: chat,
		Message: protocol.OutboundMessage{Text: text, ReplyToID: r.ReplyToID},
	}
}

func checkInbound(in protocol.ChannelInboundParams) error {
	kinds := []string{protocol.PeerDM, protocol.PeerGroup, protocol.PeerChannel, protocol.PeerThread}
	m := in.Message
	switch {
	case in.AccountID == "":
		return protocol.ErrBadRequest.With("accountId required")
	case in.Peer.ID == "" || in.Peer.Kind == "":
		return protocol.ErrBadRequest.With("peer.kind and peer.id required")
	case !slices.Contains(kinds, in.Peer.Kind):
		return protocol.ErrBadRequest.With(fmt.Sprintf("peer.kind must be one of %s, not %q", strings.Join(kinds, ", "), clip(in.Peer.Kind, 40)))
	case strings.TrimSpace(m.Text) == "" && len(m.Media) == 0 && m.Location == nil:
		return protocol.ErrBadRequest.With("message required: text, media or location")
	case len(in.Peer.ID) > 512 || in.Sender != nil && len(in.Sender.ID) > 512 || len(m.ID) > 512:
		return protocol.ErrBadRequest.With("an id is longer than 512 bytes")
	case len(m.Media) > maxMedia:
		return protocol.ErrTooLarge.With(fmt.Sprintf("a message may have at most %d files", maxMedia))
	}
	return nil
}

// recordActivity stores the time of an account's last incoming message.
func (h *Hub) recordActivity(ctx context.Context, channel, account string) {
	at := now()
	h.mu.Lock()
	if a := h.accounts[key(channel, account)]; a != nil {
		a.lastMessage = at
	}
	h.mu.Unlock()
	if err := h.o.Store.Channels.SetReceivedAt(ctx, channel, account, at); err != nil {
		slog.Warn("Storing the time of a channel's last message failed", "channel", channel, "account", account, "err", err)
	}
}

// nameChat names a new chat after its peer.
func (h *Hub) nameChat(ctx context.Context, chat protocol.SessionKey, in protocol.ChannelInboundParams) {
	name := protocol.Line(in.Peer.Name, 0)
	if name == "" || !strings.Contains(string(chat), ":"+in.Channel+":") {
		return
	}
	s, err := h.o.Sessions.Get(ctx, protocol.SessionParams{SessionKey: chat})
	if err != nil || s.Label != "" {
		return
	}
	name = clip(name, 80) + " (" + in.Channel + ")"
	if _, err := h.o.Sessions.Patch(ctx, protocol.SessionPatchParams{SessionKey: chat, Label: &name}); err != nil {
		slog.Warn("Naming a chat failed", "session", chat, "err", err)
	}
}
