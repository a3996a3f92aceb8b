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
			m.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
				Level: "warning", At: now(),
				Text: fmt.Sprintf("%s (%s): %s. Log in again under Channels.", a.driver.Kind().Title, a.id, err),
			}})
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

// Upstream is the hub as a driver's connection sees it. It is safe for concurrent use. Its methods may
// block, but all except Inbound only briefly.
type Upstream struct {
	m      *accountManager
	a      *account
	sender *sender // set by the connection's goroutine, while it holds the registry's lock
}

// Inbound accepts a message. It can take minutes, when a recording is transcribed: meanwhile the
// driver may pass messages of other chats, but those of one chat one after the other. After an error
// the message was not accepted, and may be passed again. If ctx is cancelled, because the connection
// has closed, the message is processed anyway.
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
