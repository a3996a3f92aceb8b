package channel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

const (
	// reconnectFirst is the delay before reconnecting. It doubles up to reconnectLast while
	// connections fail.
	reconnectFirst = time.Second
	reconnectLast  = 2 * time.Minute
	// steady is how long a connection must last to reset the delay.
	steady = time.Minute
)

// connect starts to keep an account connected, after it has stopped an earlier connection.
func (m *accountManager) connect(ctx context.Context, name, id string) error {
	full, a, err := m.withSecrets(name, id)
	if err != nil {
		return err
	}
	if err := m.disconnect(ctx, a); err != nil {
		return err
	}
	run, stop := context.WithCancel(m.ctx)
	done := make(chan struct{})
	m.mu.Lock()
	a.stop, a.done, a.err, a.loginFailed, a.authenticated, a.extra, a.retryAt = stop, done, "", false, false, nil, 0
	m.mu.Unlock()
	ended := func() {
		stop()
		m.mu.Lock()
		a.done = nil
		m.mu.Unlock()
		close(done)
	}
	if !m.goTracked(func() {
		defer ended()
		m.stayConnected(run, a, full)
	}) {
		ended()
		return errStopping
	}
	m.publishChange(name)
	return nil
}

// disconnect stops an account's connection and waits for its end.
func (m *accountManager) disconnect(ctx context.Context, a *account) error {
	m.mu.Lock()
	stop, done := a.stop, a.done
	m.mu.Unlock()
	if done == nil {
		return nil
	}
	stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", key(a.channel, a.id), ctx.Err())
	}
}

// stayConnected connects an account repeatedly, until ctx is cancelled or a person must act.
func (m *accountManager) stayConnected(ctx context.Context, a *account, full Account) {
	wait := reconnectFirst
	for {
		began := time.Now()
		up := &Upstream{m: m, a: a}
		err := a.driver.Connect(ctx, full, up)
		if ctx.Err() != nil {
			m.setOffline(a, up.sender, nil, 0)
			return
		}
		if err == nil {
			err = errors.New("the connection was closed")
		}
		if time.Since(began) > steady {
			wait = reconnectFirst
		}
		pause := wait + rand.N(wait/2)
		m.setOffline(a, up.sender, err, pause)
		if errors.Is(err, ErrLogin) {
			slog.Warn("Logging in to a channel failed", "channel", a.channel, "account", a.id, "err", err)
			m.o.Bus.PublishNotice("warning", fmt.Sprintf("%s (%s): %s. Log in again under Channels.", a.driver.Kind().Title, a.id, err))
			return
		}
		slog.Info("A channel will reconnect later", "channel", a.channel, "account", a.id, "err", err, "in", pause)
		select {
		case <-ctx.Done():
			m.setOffline(a, nil, nil, 0)
			return
		case <-time.After(pause):
		}
		m.mu.Lock()
		a.retryAt = 0 // the account is connecting; the last error is shown until that succeeds
		m.mu.Unlock()
		m.publishChange(a.channel)
		wait = min(2*wait, reconnectLast)
	}
}

var errStopping = protocol.ErrUnavailable.With("the gateway is stopping")

// Upstream is the hub as a driver's connection sees it. It is safe for concurrent use. Its methods
// may block, but all except Inbound only briefly.
type Upstream struct {
	m      *accountManager
	a      *account
	sender *sender // set by the connection's goroutine, while it holds the registry's lock
}

// Inbound accepts a message. It can take minutes, when a recording is transcribed: meanwhile the
// driver may pass messages of other chats, but those of one chat one after the other. After an
// error the message was not accepted, and may be passed again. If ctx is cancelled, because the
// connection has closed, the message is processed anyway.
func (u *Upstream) Inbound(ctx context.Context, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error) {
	in.Channel, in.AccountID = u.a.channel, u.a.id
	var res protocol.ChannelInboundResult
	var err error
	done := make(chan struct{})
	if !u.m.goTracked(func() {
		defer close(done)
		res, err = u.m.inbound(u.m.ctx, in)
	}) {
		return protocol.ChannelInboundResult{}, errStopping
	}
	select {
	case <-done:
		return res, err
	case <-ctx.Done():
		return protocol.ChannelInboundResult{}, ctx.Err()
	}
}

// Allows reports whether a sender may currently write to the agent directly. It starts no pairing.
func (u *Upstream) Allows(sender string) bool {
	in := protocol.ChannelInboundParams{Channel: u.a.channel, AccountID: u.a.id, Peer: protocol.Peer{Kind: protocol.PeerDM, ID: sender}}
	return mayWrite(u.m.o.Config().Channels[u.a.channel], in, sender)
}

// Online reports that t can send, until Connect returns. extra is shown with the account's status.
func (u *Upstream) Online(t Transport, extra map[string]any) {
	l := newSender(u.m.registry, u.a, t)
	u.m.mu.Lock()
	u.sender = l
	u.m.mu.Unlock()
	u.m.setOnline(u.a, l, extra)
}

// Trouble reports, after Online, a problem of a connected account, as a sentence. "" clears it.
func (u *Upstream) Trouble(why string) {
	u.m.mu.Lock()
	mine := u.sender != nil && u.a.sender == u.sender && u.a.err != why
	if mine {
		u.a.err = why
	}
	u.m.mu.Unlock()
	if mine {
		u.m.publishChange(u.a.channel)
	}
}

// Link is a WebSocket connection in the mode "channel".
type Link interface {
	// SendEvent queues an event. Events are sent in order.
	SendEvent(ctx context.Context, name string, payload any) error
	// Close closes the connection with a WebSocket close code and reason.
	Close(code int, reason string)
}

// receiptLimit is the time limit for the confirmation of a delivery.
const receiptLimit = 30 * time.Second

// socket is the transport of a channel over the network.
type socket struct {
	link     Link
	confirms bool     // the channel named ExtDelivery
	files    bool     // the channel named ExtMedia
	waiting  sync.Map // by delivery ID: a chan protocol.ChannelDeliveredParams, with room for one
}

// Name validates and normalizes the names in the connect request of a channel. The account defaults
// to the client ID, as in GSV.
func Name(p *protocol.ConnectParams) error {
	name, err := channelName(p.Client.Channel)
	if err != nil {
		return protocol.ErrInvalidConnect.With(err.Error())
	}
	id := p.Client.AccountID
	id = cmp.Or(id, p.Client.ID)
	p.Client.Channel, p.Client.AccountID = name, accountID(id)
	return nil
}

// Attach registers a connection in the mode "channel" that [Name] has validated, and closes an
// older one of the account. ready must be called once the peer has its hello-ok, and detach when
// the link has closed.
func (r *registry) Attach(p protocol.ConnectParams, link Link) (ready, detach func(), err error) {
	name, id := p.Client.Channel, p.Client.AccountID
	if r.drivers[name] != nil {
		return nil, nil, protocol.ErrInvalidConnect.With(fmt.Sprintf("The gateway runs the channel %s itself", name))
	}
	s := &socket{
		link: link, confirms: slices.Contains(p.Extensions, protocol.ExtDelivery),
		files: slices.Contains(p.Extensions, protocol.ExtMedia),
	}
	r.mu.Lock()
	a := r.accounts[key(name, id)]
	if a == nil {
		a = &account{channel: name, id: id}
		r.accounts[key(name, id)] = a
	}
	var old *socket
	if a.sender != nil {
		old, _ = a.sender.t.(*socket)
	}
	r.mu.Unlock()
	if old != nil {
		old.link.Close(protocol.CloseReplaced, "Replaced by newer channel connection")
	}
	l := newSender(r, a, s)
	return func() { r.setOnline(a, l, nil) }, func() { r.removeConnection(a, l) }, nil
}

// Send implements Transport.
func (s *socket) Send(ctx context.Context, m protocol.ChannelOutbound) (string, error) {
	if len(m.Message.Media) > 0 && !s.files {
		return "", NewRefusal("the channel %s does not support files", m.Channel)
	}
	if !s.confirms {
		return "", s.link.SendEvent(ctx, protocol.EventOutbound, m)
	}
	m.DeliveryID = protocol.NewID()
	answer := make(chan protocol.ChannelDeliveredParams, 1)
	s.waiting.Store(m.DeliveryID, answer)
	defer s.waiting.Delete(m.DeliveryID)
	if err := s.link.SendEvent(ctx, protocol.EventOutbound, m); err != nil {
		return "", err
	}
	select {
	case d := <-answer:
		switch {
		case d.Error == "":
			return d.MessageID, nil
		case d.Retryable:
			return "", errors.New(format.Clip(d.Error, 500))
		}
		return "", NewRefusal("%s", format.Clip(d.Error, 500))
	case <-time.After(receiptLimit):
		return "", errors.New("the channel did not confirm the delivery")
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Typing implements Transport.
func (s *socket) Typing(ctx context.Context, t protocol.ChannelTyping) error {
	return s.link.SendEvent(ctx, protocol.EventTyping, t)
}

// Delivered handles a channel's confirmation of a delivery (channel.delivered, extension).
func (r *registry) Delivered(channel, account string, in protocol.ChannelDeliveredParams) (protocol.Ack, error) {
	if in.DeliveryID == "" {
		return protocol.Ack{}, protocol.ErrBadRequest.With("deliveryId required")
	}
	if l := r.senderOf(channel, account); l != nil {
		if s, ok := l.t.(*socket); ok {
			if answer, ok := s.waiting.LoadAndDelete(in.DeliveryID); ok {
				answer.(chan protocol.ChannelDeliveredParams) <- in
				return protocol.Ack{OK: true}, nil
			}
		}
	}
	return protocol.Ack{OK: true, Dropped: true}, nil
}
