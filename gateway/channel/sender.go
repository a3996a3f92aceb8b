package channel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

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

// line delivers an account's outbox over one connection, in order. Its two goroutines stop with
// end.
type sender struct {
	h           *Hub
	channel, id string
	t           Transport
	ctx         context.Context
	cancel      context.CancelFunc
	wake        chan struct{}
	typing      chan protocol.ChannelTyping
}

func newSender(h *Hub, a *account, t Transport) *sender {
	l := &sender{h: h, channel: a.channel, id: a.id, t: t, wake: make(chan struct{}, 1), typing: make(chan protocol.ChannelTyping, 16)}
	l.ctx, l.cancel = context.WithCancel(h.ctx)
	return l
}

// nudge wakes the delivery, because the outbox may have a new message.
func (l *sender) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *sender) run() {
	defer l.cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.forwardTyping()
	}()
	defer func() { <-done }()
	for l.ctx.Err() == nil {
		wait, err := l.deliverNext()
		if err != nil && l.ctx.Err() == nil {
			slog.Error("Reading the outbox of a channel failed", "channel", l.channel, "account", l.id, "err", err)
			wait = lastRetry
		}
		if wait == 0 {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-l.ctx.Done():
		case <-l.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// deliverNext delivers the oldest message in the outbox, or returns the time to wait.
func (l *sender) deliverNext() (wait time.Duration, err error) {
	o, err := l.h.o.Store.Outbox.Next(l.ctx, l.channel, l.id)
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
		err := l.h.o.Store.Outbox.SetState(context.WithoutCancel(l.ctx), o)
		l.h.outbox.report(o.ID, delivery{messageID: id})
		return 0, err
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
	return 0, l.h.o.Store.Outbox.SetState(context.WithoutCancel(l.ctx), o)
}

// giveUp gives up on a message and publishes a notice, because nobody else would notice.
func (l *sender) giveUp(o store.Outbound, why string) error {
	o.State, o.Error = store.OutboxFailed, why
	err := l.h.o.Store.Outbox.SetState(context.WithoutCancel(l.ctx), o)
	slog.Warn("A message to a channel could not be delivered", "channel", l.channel, "account", l.id, "err", why)
	l.h.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
		Level: "warning", At: now(),
		Text: fmt.Sprintf("A message to %s on %s was not delivered: %s.", o.Event.Peer.ID, l.channel, strings.TrimSuffix(why, ".")),
	}})
	l.h.outbox.report(o.ID, delivery{err: protocol.ErrInternal.With("The message was not delivered: " + why)})
	return err
}

// forwardTyping forwards the typing state.
func (l *sender) forwardTyping() {
	for {
		select {
		case <-l.ctx.Done():
			return
		case t := <-l.typing:
			ctx, cancel := context.WithTimeout(l.ctx, 10*time.Second)
			if err := l.t.Typing(ctx, t); err != nil && l.ctx.Err() == nil {
				slog.Debug("Sending the typing state failed", "channel", l.channel, "account", l.id, "err", err)
			}
			cancel()
		}
	}
}
