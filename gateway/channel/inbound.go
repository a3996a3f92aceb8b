package channel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/workspace"
)

// Limits of incoming messages.
const (
	maxText  = 64 << 10 // bytes of a message's text; the rest is cut off with a note
	maxQuote = 500      // runes of a quoted message
	maxMedia = 16       // files per message
	maxFile  = 10 << 20 // bytes per file
)

// Inbox accepts what people write on channels.
type Inbox struct {
	routes   lastRouteStore
	runs     runStore
	messages Messages
	chats    Chats
	config   func() config.Config
	files    *workspace.Files
	senders  *Senders
	answers  *Answers
	outbox   *outbox
	registry *registry
	rate     rateLimiter
}

// lastRouteStore stores where the last message of a chat came from; *store.Channels implements it.
type lastRouteStore interface {
	SetLastRoute(ctx context.Context, chat protocol.SessionKey, r store.Route, at int64) error
}

// Inbound accepts a message that somebody wrote on a channel (channel.inbound): it checks the
// sender's access, finds the chat, and passes the message to the agent there. The text is never a
// command, except in a direct message of one of the channel's owners.
func (b *Inbox) Inbound(ctx context.Context, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error) {
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
	if !b.rate.allow(in.Channel, sender) {
		return protocol.ChannelInboundResult{Status: protocol.InboundBlocked, Reason: "too many messages in a minute"}, nil
	}
	cfg := b.config()
	if verdict, err := b.senders.checkAccess(ctx, in, sender); err != nil || verdict.Status != "" {
		return verdict, err
	}
	route, who := store.Route{Channel: in.Channel, AccountID: in.AccountID, Peer: in.Peer}, sender
	if isRoom {
		route.ReplyToID, who = in.Message.ID, in.Peer.ID
	}
	agent, chat := b.chats.Route(in.Channel, in.AccountID, in.Peer.Kind, who)
	if err := b.registry.recordActivity(ctx, in.Channel, in.AccountID); err != nil {
		return res, err
	}
	run := runID(in)
	duplicate := protocol.ChannelInboundResult{Status: protocol.InboundDuplicate, SessionKey: chat, RunID: run}
	if _, err := b.runs.Get(ctx, run); err == nil {
		return duplicate, nil
	} else if !errors.Is(err, protocol.ErrNotFound) {
		return res, err
	}
	writer := auth.ChannelSender(in.Channel, sender)
	if isOwner(cfg.Channels[in.Channel], in, sender) {
		writer = auth.ChannelOwner(in.Channel, sender)
		if res, ok, err := b.command(ctx, writer, chat, route, run, in); ok || err != nil {
			return res, err
		}
	}
	text, attached := compose(b.files, cfg, agent, in, fetch(ctx, b.registry.senderOf(in.Channel, in.AccountID), &in))
	if err := b.answers.follow(ctx, store.ChannelRun{Run: run, Session: chat, Route: route}, now()); err != nil {
		return res, err
	}
	sent, err := b.messages.Send(ctx, writer, protocol.ChatSendParams{SessionKey: chat, Message: text, RunID: run, Attachments: attached})
	if errors.Is(err, protocol.ErrConflict) {
		return duplicate, nil
	}
	if err != nil {
		b.answers.forget(ctx, run)
		return res, err
	}
	b.nameChat(ctx, chat, in)
	return protocol.ChannelInboundResult{Status: sent.Status, SessionKey: chat, RunID: sent.RunID, Directives: sent.Directives}, nil
}

// command runs the owner's command once and replies. ok is false if the message is for the agent.
func (b *Inbox) command(ctx context.Context, p auth.Principal, chat protocol.SessionKey, to store.Route, run protocol.RunID,
	in protocol.ChannelInboundParams,
) (res protocol.ChannelInboundResult, ok bool, err error) {
	id := "reply:" + string(run)
	switch _, err := b.outbox.messages.Get(ctx, id); {
	case err == nil:
		return protocol.ChannelInboundResult{Status: protocol.InboundDuplicate, SessionKey: chat}, true, nil
	case !errors.Is(err, protocol.ErrNotFound):
		return res, false, err
	}
	if err := b.routes.SetLastRoute(ctx, chat, to, now()); err != nil {
		return res, false, err
	}
	done, ok := b.messages.Command(ctx, p, chat, in.Message.Text, len(in.Message.Media) > 0)
	if !ok {
		return res, false, nil
	}
	res = protocol.ChannelInboundResult{Status: done.Status, SessionKey: chat, Directives: done.Directives, Command: done.Command, Response: cmp.Or(done.Error, done.Response)}
	return res, true, b.outbox.add(ctx, id, outboundTo(to, chat, res.Response))
}

func outboundTo(r store.Route, chat protocol.SessionKey, text string) protocol.ChannelOutbound {
	return protocol.ChannelOutbound{
		Channel: r.Channel, AccountID: r.AccountID, Peer: r.Peer, SessionKey: chat,
		Message: protocol.OutboundMessage{Text: text, ReplyToID: r.ReplyToID},
	}
}

// nameChat names a new chat after its peer.
func (b *Inbox) nameChat(ctx context.Context, chat protocol.SessionKey, in protocol.ChannelInboundParams) {
	name := format.Line(in.Peer.Name, 0)
	if name == "" || !strings.Contains(string(chat), ":"+in.Channel+":") {
		return
	}
	s, err := b.chats.Get(ctx, protocol.SessionParams{SessionKey: chat})
	if err != nil || s.Label != "" {
		return
	}
	name = format.Clip(name, 80) + " (" + in.Channel + ")"
	if _, err := b.chats.Patch(ctx, protocol.SessionPatchParams{SessionKey: chat, Label: &name}); err != nil {
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
