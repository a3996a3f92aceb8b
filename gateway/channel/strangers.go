package channel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/store"
)

// Limits of pending strangers.
const (
	maxPending = 100                // per channel
	pendingFor = 7 * 24 * time.Hour // afterwards they may ask again
	maxFirst   = 200                // runes stored of their first message
	// askEvery is the time until one more may ask after maxPending in a row: whom the person denied
	// must not ask again at once, without end.
	askEvery = time.Minute
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

// Senders decides who may write to the agent, and asks the person about strangers.
type Senders struct {
	questions Questions
	bus       *event.Bus
	outbox    *outbox
	config    func() config.Config
	set       func(ctx context.Context, path string, value json.RawMessage) error
	asking    sync.Mutex // held while the questions are read and one is added
	allow     sync.Mutex // held while an allowFrom is read and written
}

// Questions asks the person. *question.Queue implements it.
type Questions interface {
	Open(ctx context.Context, q protocol.Question, t question.Terms) (protocol.Question, error)
	Answer(ctx context.Context, who auth.Principal, p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error)
	Pending(ctx context.Context) ([]protocol.Question, error)
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
	p := protocol.SenderSubject{PendingPair: protocol.PendingPair{
		Channel: in.Channel, SenderID: config.SenderID(in.Channel, id), SenderName: format.Line(name, 120), RequestedAt: now(),
		AccountID: in.AccountID, FirstMessage: format.Line(in.Message.Text, maxFirst),
	}, Peer: in.Peer}
	switch err := s.ask(ctx, p); {
	case errors.Is(err, protocol.ErrTooMany):
		return protocol.ChannelInboundResult{Status: protocol.InboundBlocked, Reason: "too many people are waiting for permission to write"}, nil
	case err != nil:
		return protocol.ChannelInboundResult{}, err
	}
	return protocol.ChannelInboundResult{Status: protocol.InboundPending, SenderID: p.SenderID}, nil
}

// ask asks the person about a stranger, unless that question waits already, and tells the stranger so.
func (s *Senders) ask(ctx context.Context, p protocol.SenderSubject) error {
	s.asking.Lock()
	defer s.asking.Unlock()
	if _, err := s.question(ctx, p.Channel, p.SenderID); !errors.Is(err, protocol.ErrNotFound) {
		return err
	}
	err := s.open(ctx, protocol.Question{
		Kind: protocol.AskSender, CreatedAt: p.RequestedAt, AskedBy: protocol.AskedBy{Kind: protocol.AskedByChannel, Name: p.Channel}, Sender: &p,
	}, newOutbound("pair:"+protocol.NewID(), outboundTo(routeOf(p), "", noticePending)))
	if err == nil {
		publishChange(s.bus, p.Channel)
		s.outbox.wake(p.Channel, p.AccountID)
	}
	return err
}

// open opens a question about a stranger, which expires a week after it was asked first. replies are
// stored together with it.
func (s *Senders) open(ctx context.Context, q protocol.Question, replies ...store.Outbound) error {
	_, err := s.questions.Open(ctx, q, question.Terms{
		Expires: max(pendingFor-time.Duration(now()-q.CreatedAt)*time.Millisecond, time.Millisecond),
		Limit:   question.Limit{Asker: "people on " + q.Sender.Channel, Open: maxPending, Burst: maxPending, Every: askEvery},
		Replies: replies, Apply: s.apply,
		Ended: func(q protocol.Question) { publishChange(s.bus, q.Sender.Channel) },
	})
	return err
}

// load asks the questions of an earlier start again.
func (s *Senders) load(ctx context.Context) error {
	list, err := s.questions.Pending(ctx)
	for _, q := range list {
		if q.Sender != nil && err == nil {
			err = s.open(ctx, q)
		}
	}
	return err
}

func routeOf(p protocol.SenderSubject) store.Route {
	return store.Route{Channel: p.Channel, AccountID: p.AccountID, Peer: p.Peer}
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

// Pairs lists the strangers who wait for an answer (pair.list).
func (s *Senders) Pairs(ctx context.Context, _ protocol.Empty) (protocol.PairListResult, error) {
	list, err := s.questions.Pending(ctx)
	res := protocol.PairListResult{Pairs: map[string]protocol.PendingPair{}}
	for _, q := range list {
		if p := q.Sender; p != nil {
			res.Pairs[key(p.Channel, p.SenderID)] = p.PendingPair
		}
	}
	return res, err
}

// question returns the pending question about a stranger, or protocol.ErrNotFound.
func (s *Senders) question(ctx context.Context, channel, sender string) (protocol.Question, error) {
	list, err := s.questions.Pending(ctx)
	if err != nil {
		return protocol.Question{}, err
	}
	for _, q := range list {
		if p := q.Sender; p != nil && p.Channel == channel && p.SenderID == sender {
			return q, nil
		}
	}
	return protocol.Question{}, protocol.ErrNotFound.With(fmt.Sprintf("No pending pairing for %s:%s", channel, sender))
}

// answer answers the question about a stranger.
func (s *Senders) answer(ctx context.Context, who auth.Principal, in protocol.PairParams, decision string) (p protocol.SenderSubject, err error) {
	if strings.TrimSpace(in.Channel) == "" || strings.TrimSpace(in.SenderID) == "" {
		return p, protocol.ErrBadRequest.With("channel and senderId required")
	}
	name, err := channelName(in.Channel)
	if err != nil {
		return p, err
	}
	q, err := s.question(ctx, name, config.SenderID(name, in.SenderID))
	if err != nil {
		return p, err
	}
	r, err := s.questions.Answer(ctx, who, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: decision})
	if err == nil && !r.Won {
		err = protocol.ErrConflict.With("The question was answered already, by " + r.Question.AnsweredBy)
	}
	return *q.Sender, err
}

// Approve allows a stranger to write, and notifies them (pair.approve).
func (s *Senders) Approve(ctx context.Context, who auth.Principal, in protocol.PairParams) (protocol.PairApproveResult, error) {
	p, err := s.answer(ctx, who, in, protocol.DecisionAllow)
	if err != nil {
		return protocol.PairApproveResult{}, err
	}
	return protocol.PairApproveResult{Approved: true, SenderID: p.SenderID, SenderName: p.SenderName}, nil
}

// Reject denies a stranger (pair.reject). The stranger may ask again.
func (s *Senders) Reject(ctx context.Context, who auth.Principal, in protocol.PairParams) (protocol.PairRejectResult, error) {
	p, err := s.answer(ctx, who, in, protocol.DecisionDeny)
	if err != nil {
		return protocol.PairRejectResult{}, err
	}
	return protocol.PairRejectResult{Rejected: true, SenderID: p.SenderID}, nil
}

// apply carries out the answer to a question about a stranger. It may run again for the same
// question, if the gateway stops before the answer is stored: the stranger gets one notice then, too.
func (s *Senders) apply(ctx context.Context, _ auth.Principal, q *protocol.Question, in protocol.QuestionAnswerParams) error {
	if in.Decision != protocol.DecisionAllow {
		return nil
	}
	p := *q.Sender
	s.allow.Lock()
	defer s.allow.Unlock()
	before := s.config().Channels[p.Channel].AllowFrom
	isNew := !isAllowed(before, p.Channel, p.SenderID, p.Peer)
	if isNew {
		if err := s.setAllowFrom(ctx, p.Channel, append(slices.Clone(before), p.SenderID)); err != nil {
			return err
		}
	}
	err := s.outbox.add(ctx, "pair:"+string(q.ID), outboundTo(routeOf(p), "", noticeApproved))
	if err != nil && isNew {
		err = errors.Join(err, s.setAllowFrom(context.WithoutCancel(ctx), p.Channel, before))
	}
	return err
}

// setAllowFrom stores who may write on a channel.
func (s *Senders) setAllowFrom(ctx context.Context, channel string, list []string) error {
	raw, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return s.set(ctx, "channels."+channel+".allowFrom", raw)
}

// isOwner reports whether one of the channel's owners wrote a direct message. In a room, anybody
// could use an owner's name.
func isOwner(c config.Channel, in protocol.ChannelInboundParams, sender string) bool {
	id := config.SenderID(in.Channel, sender)
	return in.Peer.Kind == protocol.PeerDM && id != "" &&
		slices.ContainsFunc(c.Owners, func(o string) bool { return config.SenderID(in.Channel, o) == id })
}
