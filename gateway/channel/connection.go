package channel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

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
func (m *Accounts) connect(ctx context.Context, name, id string) error {
	full, a, err := m.withSecrets(name, id)
	if err != nil {
		return err
	}
	if err := m.disconnect(ctx, a); err != nil {
		return err
	}
	run, stop := context.WithCancel(m.registry.workers.Context())
	done := make(chan struct{})
	m.registry.mu.Lock()
	a.stop, a.done, a.err, a.loginFailed, a.authenticated, a.extra, a.retryAt = stop, done, "", false, false, nil, 0
	m.registry.mu.Unlock()
	ended := func() {
		stop()
		m.registry.mu.Lock()
		a.done = nil
		m.registry.mu.Unlock()
		close(done)
	}
	if !m.registry.workers.Start(func() {
		defer ended()
		m.stayConnected(run, a, full)
	}) {
		ended()
		return errStopping
	}
	publishChange(m.registry.bus, name)
	return nil
}

// disconnect stops an account's connection and waits for its end.
func (m *Accounts) disconnect(ctx context.Context, a *account) error {
	m.registry.mu.Lock()
	stop, done := a.stop, a.done
	m.registry.mu.Unlock()
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
func (m *Accounts) stayConnected(ctx context.Context, a *account, full Account) {
	wait := reconnectFirst
	for {
		began := time.Now()
		up := &Upstream{m: m, a: a}
		err := a.driver.Connect(ctx, full, up)
		if ctx.Err() != nil {
			m.registry.setOffline(a, up.sender, nil, 0)
			return
		}
		if err == nil {
			err = errors.New("the connection was closed")
		}
		if time.Since(began) > steady {
			wait = reconnectFirst
		}
		pause := wait + rand.N(wait/2)
		m.registry.setOffline(a, up.sender, err, pause)
		if errors.Is(err, ErrLogin) {
			slog.Warn("Logging in to a channel failed", "channel", a.channel, "account", a.id, "err", err)
			m.registry.bus.PublishNotice("warning", fmt.Sprintf("%s (%s): %s. Log in again under Channels.", a.driver.Kind().Title, a.id, err))
			return
		}
		slog.Info("A channel will reconnect later", "channel", a.channel, "account", a.id, "err", err, "in", pause)
		select {
		case <-ctx.Done():
			m.registry.setOffline(a, nil, nil, 0)
			return
		case <-time.After(pause):
		}
		m.registry.mu.Lock()
		a.retryAt = 0 // the account is connecting; the last error is shown until that succeeds
		m.registry.mu.Unlock()
		publishChange(m.registry.bus, a.channel)
		wait = min(2*wait, reconnectLast)
	}
}

var errStopping = protocol.ErrUnavailable.With("the gateway is stopping")

// Upstream is the hub as a driver's connection sees it. It is safe for concurrent use. Its methods
// may block, but all except Inbound only briefly.
type Upstream struct {
	m      *Accounts
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
	if !u.m.registry.workers.Start(func() {
		defer close(done)
		res, err = u.m.inbox.Inbound(u.m.registry.workers.Context(), in)
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
	return u.m.senders.mayWrite(in, sender)
}

// Online reports that t can send, until Connect returns. extra is shown with the account's status.
func (u *Upstream) Online(t Transport, extra map[string]any) {
	l := newSender(u.m.registry, u.a, t)
	u.m.registry.mu.Lock()
	u.sender = l
	u.m.registry.mu.Unlock()
	u.m.registry.setOnline(u.a, l, extra)
}

// Trouble reports, after Online, a problem of a connected account, as a sentence. "" clears it.
func (u *Upstream) Trouble(why string) {
	u.m.registry.mu.Lock()
	mine := u.sender != nil && u.a.sender == u.sender && u.a.err != why
	if mine {
		u.a.err = why
	}
	u.m.registry.mu.Unlock()
	if mine {
		publishChange(u.m.registry.bus, u.a.channel)
	}
}
