package channel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/peer/format"
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
// sender's access, finds the chat, and passes the message to the agent there. The text is never a
// command, except in a direct message of one of the channel's owners.
func (h *Hub) Inbound(ctx context.Context, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error) {
	var res protocol.ChannelInboundResult
	if err := checkInbound(&in); err != nil {
		return res, err
	}
	sender, isRoom := in.Peer.ID, in.Peer.Kind != protocol.PeerDM
	if in.Sender != nil && in.Sender.ID != "" {
		sender = in.Sender.ID
	}
	if isRoom && in.WasMentioned != nil && !*in.WasMentioned {
		return protocol.ChannelInboundResult{Status: protocol.InboundIgnored, Reason: "the agent was not mentioned"}, nil
	}
	if !h.rate.allow(in.Channel, sender) {
		return protocol.ChannelInboundResult{Status: protocol.InboundBlocked, Reason: "too many messages in a minute"}, nil
	}
	cfg := h.o.Config()
	if verdict, err := h.checkAccess(ctx, cfg.Channels[in.Channel], in, sender); err != nil || verdict.Status != "" {
		return verdict, err
	}
	route, who := store.Route{Channel: in.Channel, AccountID: in.AccountID, Peer: in.Peer}, sender
	if isRoom {
		route.ReplyToID, who = in.Message.ID, in.Peer.ID
	}
	agent, chat := h.o.Chats.Route(in.Channel, in.AccountID, in.Peer.Kind, who)
	if err := h.recordActivity(ctx, in.Channel, in.AccountID); err != nil {
		return res, err
	}
	run := runID(in)
	duplicate := protocol.ChannelInboundResult{Status: protocol.InboundDuplicate, SessionKey: chat, RunID: run}
	if _, err := h.o.Stores.Runs.Get(ctx, run); err == nil {
		return duplicate, nil
	} else if !errors.Is(err, protocol.ErrNotFound) {
		return res, err
	}
	writer := auth.ChannelSender(in.Channel, sender)
	if isOwner(cfg.Channels[in.Channel], in, sender) {
		writer = auth.ChannelOwner(in.Channel, sender)
		if res, ok, err := h.command(ctx, writer, chat, route, run, in); ok || err != nil {
			return res, err
		}
	}
	text, attached := compose(h.o.Files, cfg, agent, in, fetch(ctx, h.registry.senderOf(in.Channel, in.AccountID), &in))
	f := &following{ChannelRun: store.ChannelRun{Run: run, Session: chat, Route: route}}
	if err := h.o.Stores.Channels.StartRun(ctx, f.ChannelRun, now()); err != nil {
		return res, err
	}
	h.follower.runs.Store(run, f)
	sent, err := h.o.Messages.Send(ctx, writer, protocol.ChatSendParams{SessionKey: chat, Message: text, RunID: run, Attachments: attached})
	if errors.Is(err, protocol.ErrConflict) {
		return duplicate, nil
	}
	if err != nil {
		h.follower.forget(ctx, run)
		return res, err
	}
	h.nameChat(ctx, chat, in)
	return protocol.ChannelInboundResult{Status: sent.Status, SessionKey: chat, RunID: sent.RunID, Directives: sent.Directives}, nil
}

func outboundTo(r store.Route, chat protocol.SessionKey, text string) protocol.ChannelOutbound {
	return protocol.ChannelOutbound{
		Channel: r.Channel, AccountID: r.AccountID, Peer: r.Peer, SessionKey: chat,
		Message: protocol.OutboundMessage{Text: text, ReplyToID: r.ReplyToID},
	}
}

// checkInbound validates a message and normalizes the names of its channel and account.
func checkInbound(in *protocol.ChannelInboundParams) error {
	name, err := channelName(in.Channel)
	if err != nil {
		return err
	}
	kinds := []string{protocol.PeerDM, protocol.PeerGroup, protocol.PeerChannel, protocol.PeerThread}
	m := in.Message
	switch {
	case in.AccountID == "":
		return protocol.ErrBadRequest.With("accountId required")
	case in.Peer.ID == "" || in.Peer.Kind == "":
		return protocol.ErrBadRequest.With("peer.kind and peer.id required")
	case !slices.Contains(kinds, in.Peer.Kind):
		return protocol.ErrBadRequest.With(fmt.Sprintf("peer.kind must be one of %s, not %q", strings.Join(kinds, ", "), format.Clip(in.Peer.Kind, 40)))
	case strings.TrimSpace(m.Text) == "" && len(m.Media) == 0 && m.Location == nil:
		return protocol.ErrBadRequest.With("message required: text, media or location")
	case len(in.Peer.ID) > 512 || in.Sender != nil && len(in.Sender.ID) > 512 || len(m.ID) > 512:
		return protocol.ErrBadRequest.With("an id is longer than 512 bytes")
	case len(m.Media) > maxMedia:
		return protocol.ErrTooLarge.With(fmt.Sprintf("a message may have at most %d files", maxMedia))
	}
	in.Channel, in.AccountID = name, accountID(in.AccountID)
	return nil
}

// nameChat names a new chat after its peer.
func (h *Hub) nameChat(ctx context.Context, chat protocol.SessionKey, in protocol.ChannelInboundParams) {
	name := format.Line(in.Peer.Name, 0)
	if name == "" || !strings.Contains(string(chat), ":"+in.Channel+":") {
		return
	}
	s, err := h.o.Chats.Get(ctx, protocol.SessionParams{SessionKey: chat})
	if err != nil || s.Label != "" {
		return
	}
	name = format.Clip(name, 80) + " (" + in.Channel + ")"
	if _, err := h.o.Chats.Patch(ctx, protocol.SessionPatchParams{SessionKey: chat, Label: &name}); err != nil {
		slog.Warn("Naming a chat failed", "session", chat, "err", err)
	}
}

// maxPerMinute is the number of messages that a sender may write in a minute.
const maxPerMinute = 20

// rateLimiter limits the messages of each sender. It is safe for concurrent use.
type rateLimiter struct {
	mu     sync.Mutex // guards the fields below
	since  time.Time
	counts map[string]int // messages of each sender in the minute that began at since
}

// allow counts a sender's message, and reports whether the sender is within the limit.
func (r *rateLimiter) allow(channel, sender string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.since) > time.Minute {
		r.since, r.counts = time.Now(), make(map[string]int)
	}
	k := key(channel, sender)
	r.counts[k]++
	return r.counts[k] <= maxPerMinute
}

// DefaultAccount is the account to use when none is named.
const DefaultAccount = "default"

var channelID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// accountID normalizes an account's ID.
func accountID(s string) string { return cmp.Or(config.Name(s), DefaultAccount) }

// channelName validates and normalizes a channel's name.
func channelName(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	switch {
	case s == "":
		return "", protocol.ErrBadRequest.With("channel required")
	case !channelID.MatchString(s):
		return "", protocol.ErrBadRequest.With("channel may contain only letters, digits, _ and -, at most 64")
	}
	return s, nil
}

// runID derives a run's ID from the message's ID, so that a repeated message is accepted once.
func runID(in protocol.ChannelInboundParams) protocol.RunID {
	if in.Message.ID == "" {
		return protocol.RunID(protocol.NewID())
	}
	parts := []string{in.Channel, in.AccountID, in.Peer.Kind, in.Peer.ID, in.Message.ID}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return protocol.RunID(inboundRun + hex.EncodeToString(sum[:16]))
}
