package channel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Limits of pending strangers.
const (
	maxPending = 100                // per channel
	pendingFor = 7 * 24 * time.Hour // afterwards they may ask again
	maxFirst   = 200                // runes stored of their first message
)

// Texts sent to strangers.
const (
	noticePending  = "Hello. I do not know you yet, so I have asked the person I work for whether I may talk with you. Please write again when they have agreed."
	noticeApproved = "You may write to me now."
)

// Policies of a channel (channels.NAME.dmPolicy). The default is pairing.
const (
	policyOpen      = "open"
	policyAllowlist = "allowlist"
)

// Senders decides who may write to the agent.
type Senders struct {
	store  pairStore
	bus    *event.Bus
	outbox *outbox
	config func() config.Config
	set    func(ctx context.Context, path string, value json.RawMessage) error
	allow  sync.Mutex // held while an allowFrom is read and written
}

// pairStore stores the requests of strangers; *store.Channels implements it.
type pairStore interface {
	Pairs(ctx context.Context) ([]store.Pair, error)
	Pair(ctx context.Context, channel, sender string, since int64) (store.Pair, error)
	AddPair(ctx context.Context, p store.Pair, since int64, limit int, reply store.Outbound) (added bool, err error)
	TakePair(ctx context.Context, p store.Pair, line protocol.AuditEntry, reply ...store.Outbound) error
}

// mayWrite reports whether a sender may write without an approval.
func (s *Senders) mayWrite(in protocol.ChannelInboundParams, sender string) bool {
	c := s.config().Channels[in.Channel]
	return c.DMPolicy == policyOpen || isOwner(c, in, sender) || isAllowed(c.AllowFrom, in.Channel, config.SenderID(in.Channel, sender), in.Peer)
}

// checkAccess decides whether a sender may write; a result without a status means yes. In groups it
// requests the pairing of the group and not of the sender, because the name of a member can belong
// to somebody else tomorrow.
func (s *Senders) checkAccess(ctx context.Context, in protocol.ChannelInboundParams, sender string) (protocol.ChannelInboundResult, error) {
	if s.mayWrite(in, sender) {
		return protocol.ChannelInboundResult{}, nil
	}
	if s.config().Channels[in.Channel].DMPolicy == policyAllowlist {
		return protocol.ChannelInboundResult{Status: protocol.InboundBlocked, Reason: "the sender is not in channels." + in.Channel + ".allowFrom"}, nil
	}
	id, name := sender, in.Peer.Name
	if in.Peer.Kind != protocol.PeerDM {
		id = in.Peer.ID
	} else if in.Sender != nil {
		name = cmp.Or(in.Sender.Name, name)
	}
	p := store.Pair{PendingPair: protocol.PendingPair{
		Channel: in.Channel, SenderID: config.SenderID(in.Channel, id), SenderName: format.Line(name, 120), RequestedAt: now(),
		AccountID: in.AccountID, FirstMessage: format.Line(in.Message.Text, maxFirst),
	}, Peer: in.Peer}
	reply := newOutbound("pair:"+protocol.NewID(), outboundTo(store.Route{Channel: in.Channel, AccountID: in.AccountID, Peer: in.Peer}, "", noticePending))
	added, err := s.store.AddPair(ctx, p, oldest(), maxPending, reply)
	switch {
	case errors.Is(err, protocol.ErrUnavailable):
		return protocol.ChannelInboundResult{Status: protocol.InboundBlocked, Reason: "too many people are waiting for permission to write"}, nil
	case err != nil:
		return protocol.ChannelInboundResult{}, err
	}
	if added {
		publishChange(s.bus, in.Channel)
		who := in.Channel + ": " + format.Line(p.SenderID, 0)
		s.bus.PublishNotice("info", "Someone new wants to write to the agent on "+who+". Answer under Channels.")
		s.outbox.wake(in.Channel, in.AccountID)
	}
	return protocol.ChannelInboundResult{Status: protocol.InboundPending, SenderID: p.SenderID}, nil
}

// isAllowed reports whether a list contains a sender, or the group they write in.
func isAllowed(list []string, channel, sender string, peer protocol.Peer) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		entry = strings.TrimSpace(entry)
		if entry == "*" {
			return true
		}
		n := config.SenderID(channel, entry)
		return n != "" && (n == sender || peer.Kind != protocol.PeerDM && n == config.SenderID(channel, peer.ID))
	})
}

// oldest returns the earliest time of a request that is still pending.
func oldest() int64 { return now() - pendingFor.Milliseconds() }

// Pairs lists the pending requests of strangers (pair.list).
func (s *Senders) Pairs(ctx context.Context, _ protocol.Empty) (protocol.PairListResult, error) {
	list, err := s.store.Pairs(ctx)
	res := protocol.PairListResult{Pairs: map[string]protocol.PendingPair{}}
	for _, p := range list {
		if p.RequestedAt >= oldest() {
			res.Pairs[key(p.Channel, p.SenderID)] = p.PendingPair
		}
	}
	return res, err
}

// pair returns the request that a person has decided about.
func (s *Senders) pair(ctx context.Context, in protocol.PairParams) (p store.Pair, err error) {
	if strings.TrimSpace(in.Channel) == "" || strings.TrimSpace(in.SenderID) == "" {
		return p, protocol.ErrBadRequest.With("channel and senderId required")
	}
	name, err := channelName(in.Channel)
	if err != nil {
		return p, err
	}
	return s.store.Pair(ctx, name, config.SenderID(name, in.SenderID), oldest())
}

// Approve allows a stranger to write, and notifies them (pair.approve). by is for the audit log.
func (s *Senders) Approve(ctx context.Context, by string, in protocol.PairParams) (out protocol.PairApproveResult, err error) {
	s.allow.Lock()
	defer s.allow.Unlock()
	p, err := s.pair(ctx, in)
	if err != nil {
		return out, err
	}
	before := s.config().Channels[p.Channel].AllowFrom
	isNew := !isAllowed(before, p.Channel, p.SenderID, p.Peer)
	if isNew {
		if err := s.setAllowFrom(ctx, p.Channel, append(slices.Clone(before), p.SenderID)); err != nil {
			return out, err
		}
	}
	reply := newOutbound("pair:"+protocol.NewID(), outboundTo(store.Route{Channel: p.Channel, AccountID: p.AccountID, Peer: p.Peer}, "", noticeApproved))
	if err := s.store.TakePair(ctx, p, verdictEntry(by, p, "allowed"), reply); err != nil {
		if isNew {
			err = errors.Join(err, s.setAllowFrom(context.WithoutCancel(ctx), p.Channel, before))
		}
		return out, err
	}
	publishChange(s.bus, p.Channel)
	s.outbox.wake(p.Channel, p.AccountID)
	return protocol.PairApproveResult{Approved: true, SenderID: p.SenderID, SenderName: p.SenderName}, nil
}

// setAllowFrom stores who may write on a channel.
func (s *Senders) setAllowFrom(ctx context.Context, channel string, list []string) error {
	raw, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return s.set(ctx, "channels."+channel+".allowFrom", raw)
}

// Reject removes a stranger's request (pair.reject). The stranger may ask again.
func (s *Senders) Reject(ctx context.Context, by string, in protocol.PairParams) (protocol.PairRejectResult, error) {
	p, err := s.pair(ctx, in)
	if err == nil {
		err = s.store.TakePair(ctx, p, verdictEntry(by, p, "denied"))
	}
	if err != nil {
		return protocol.PairRejectResult{}, err
	}
	publishChange(s.bus, p.Channel)
	return protocol.PairRejectResult{Rejected: true, SenderID: p.SenderID}, nil
}

// verdictEntry returns the audit entry about the decision about a stranger.
func verdictEntry(by string, p store.Pair, verdict string) protocol.AuditEntry {
	return protocol.AuditEntry{At: now(), Kind: protocol.AuditSender, By: by, What: key(p.Channel, p.SenderID), Verdict: verdict}
}

// isOwner reports whether one of the channel's owners wrote a direct message. In a room, anybody
// could use an owner's name.
func isOwner(c config.Channel, in protocol.ChannelInboundParams, sender string) bool {
	id := config.SenderID(in.Channel, sender)
	return in.Peer.Kind == protocol.PeerDM && id != "" &&
		slices.ContainsFunc(c.Owners, func(o string) bool { return config.SenderID(in.Channel, o) == id })
}
