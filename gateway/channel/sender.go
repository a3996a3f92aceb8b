package channel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

const (
	// sendLimit is the time limit for sending one message.
	sendLimit = 60 * time.Second
	// firstRetry is the delay after a message's first failure. It doubles with every further
	// failure, up to lastRetry.
	firstRetry = 2 * time.Second
	lastRetry  = 5 * time.Minute
	// maxAttempts and maxAge limit the attempts to send a message. Waiting for a connection does
	// not count as an attempt.
	maxAttempts = 10
	maxAge      = 48 * time.Hour
)

// sender delivers an account's outbox over one connection, in order, until ctx is cancelled.
type sender struct {
	outbox      *outbox
	bus         *event.Bus
	channel, id string
	t           Transport
	ctx         context.Context
	cancel      context.CancelFunc
	wake        wake.Signal // holds a token when the outbox may have a new message
	typing      chan protocol.ChannelTyping
	unstored    *store.Outbound // was delivered, which could not be stored yet; used by run only
}

func newSender(r *registry, a *account, t Transport) *sender {
	l := &sender{outbox: r.outbox, bus: r.bus, channel: a.channel, id: a.id, t: t, wake: wake.New(), typing: make(chan protocol.ChannelTyping, 16)}
	l.ctx, l.cancel = context.WithCancel(r.workers.Context())
	return l
}

func (l *sender) run() {
	for l.ctx.Err() == nil {
		var wait time.Duration
		err := crash.Call("channel delivery", func() (err error) {
			wait, err = l.deliverNext()
			return err
		}, "channel", l.channel, "account", l.id)
		if err != nil && l.ctx.Err() == nil {
			slog.Error("Reading or storing the outbox of a channel failed", "channel", l.channel, "account", l.id, "err", err)
			wait = lastRetry
		}
		if wait == 0 {
			continue
		}
		select {
		case <-l.ctx.Done():
		case <-l.wake:
		case <-time.After(wait):
		}
	}
}

// deliverNext delivers the oldest message in the outbox, or returns the time to wait.
func (l *sender) deliverNext() (wait time.Duration, err error) {
	if err := l.storeDelivered(); err != nil {
		return 0, err
	}
	o, err := l.outbox.messages.Next(l.ctx, l.channel, l.id)
	at := now()
	switch {
	case errors.Is(err, protocol.ErrNotFound):
		return time.Hour, nil
	case err != nil:
		return 0, err
	case at-o.CreatedAt > maxAge.Milliseconds():
		return 0, l.giveUp(o, fmt.Sprintf("it could not be delivered within %d hours", int(maxAge.Hours())))
	case o.NextAt > at:
		return time.Duration(o.NextAt-at) * time.Millisecond, nil
	}
	ctx, cancel := context.WithTimeout(l.ctx, sendLimit)
	id, sendErr := l.t.Send(ctx, o.Event)
	cancel()
	switch {
	case sendErr == nil:
		o.State, o.MessageID, o.Error = store.OutboxSent, id, ""
		o.Attempts++
		l.unstored = &o
		l.outbox.report(o.ID, delivery{messageID: id})
		return 0, l.storeDelivered()
	case l.ctx.Err() != nil:
		return 0, nil // the next connection sends it again
	case errors.Is(sendErr, ErrRefused):
		return 0, l.giveUp(o, sendErr.Error())
	}
	o.Attempts++
	if o.Attempts >= maxAttempts {
		return 0, l.giveUp(o, sendErr.Error())
	}
	delay := min(firstRetry<<(o.Attempts-1), lastRetry)
	o.NextAt, o.Error = at+delay.Milliseconds(), sendErr.Error()
	slog.Info("Sending a message to a channel failed; it is sent again later", "channel", l.channel, "account", l.id, "err", sendErr, "in", delay)
	return 0, l.outbox.messages.SetState(context.WithoutCancel(l.ctx), o)
}

// storeDelivered stores that the last message was delivered, if that is not stored yet: it must not
// be sent again.
func (l *sender) storeDelivered() error {
	if l.unstored == nil {
		return nil
	}
	err := l.outbox.messages.SetState(context.WithoutCancel(l.ctx), *l.unstored)
	if err == nil {
		l.unstored = nil
	}
	return err
}

// giveUp gives up on a message and publishes a notice.
func (l *sender) giveUp(o store.Outbound, why string) error {
	o.State, o.Error = store.OutboxFailed, why
	if err := l.outbox.messages.SetState(context.WithoutCancel(l.ctx), o); err != nil {
		return err
	}
	slog.Warn("A message to a channel could not be delivered", "channel", l.channel, "account", l.id, "err", why)
	reason := strings.TrimSuffix(why, ".")
	l.bus.PublishNotice("warning", fmt.Sprintf("A message to %s on %s was not delivered: %s.", o.Event.Peer.ID, l.channel, reason))
	l.outbox.report(o.ID, delivery{err: protocol.ErrInternal.With("The message was not delivered: " + why)})
	return nil
}

// forwardTyping forwards the typing state.
func (l *sender) forwardTyping() {
	for {
		select {
		case <-l.ctx.Done():
			return
		case t := <-l.typing:
			ctx, cancel := context.WithTimeout(l.ctx, 10*time.Second)
			if err := crash.Call("typing state", func() error { return l.t.Typing(ctx, t) }); err != nil && l.ctx.Err() == nil {
				slog.Debug("Sending the typing state failed", "channel", l.channel, "account", l.id, "err", err)
			}
			cancel()
		}
	}
}

// outbox holds the messages to be sent. It is safe for concurrent use.
type outbox struct {
	messages outboxStore
	registry *registry
	waiters  sync.Map // by outbox ID: a chan delivery, with room for one outcome
}

// outboxStore stores the messages to be sent; *store.Outbox implements it.
type outboxStore interface {
	Put(ctx context.Context, o store.Outbound) (added bool, err error)
	Get(ctx context.Context, id string) (store.Outbound, error)
	Next(ctx context.Context, channel, account string) (store.Outbound, error)
	SetState(ctx context.Context, o store.Outbound) error
	Purge(ctx context.Context, before int64) error
}

// delivery is the outcome of sending a message.
type delivery struct {
	messageID string
	err       error
}

// report passes the outcome of a delivery to its waiter.
func (o *outbox) report(id string, d delivery) {
	if w, ok := o.waiters.LoadAndDelete(id); ok {
		w.(chan delivery) <- d
	}
}

// newOutbound returns a message as it is stored in the outbox.
func newOutbound(id string, e protocol.ChannelOutbound) store.Outbound {
	e.Message.Text = strings.TrimRight(blankLines.ReplaceAllString(e.Message.Text, ""), " \t\r\n")
	at := now()
	return store.Outbound{ID: id, NextAt: at, CreatedAt: at, Event: e}
}

// add stores a message in the outbox, once for each ID. An empty message is ignored.
func (o *outbox) add(ctx context.Context, id string, e protocol.ChannelOutbound) error {
	m := newOutbound(id, e)
	if m.Event.Message.Text == "" && len(m.Event.Message.Media) == 0 {
		return nil
	}
	added, err := o.messages.Put(ctx, m)
	if err != nil || !added {
		return err
	}
	o.wake(e.Channel, e.AccountID)
	return nil
}

// wake makes the sender of an account look for new messages.
func (o *outbox) wake(channel, account string) {
	if l := o.registry.senderOf(channel, account); l != nil {
		l.wake.Send()
	}
}

// blankLines matches the blank lines before a text, without the indentation of its first line.
var blankLines = regexp.MustCompile(`^\s*\n`)
