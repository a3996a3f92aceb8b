package channel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

const (
	// outboxRetention is the time for which sent messages stay in the outbox.
	outboxRetention = 7 * 24 * time.Hour
	purgeInterval   = 6 * time.Hour
	// recheckInterval is the interval at which runs are checked even without an event, which
	// repairs failed writes to the store.
	recheckInterval = time.Minute
)

// following is a run whose answers go to a channel. Only the follower accesses typing.
type following struct {
	store.ChannelRun
	earlier bool // started before this start of the gateway
	typing  bool
}

// follower puts the answers of runs into the outbox. It is safe for concurrent use. An event only
// says that there is something to look for: the messages are read from the store, and the outbox
// accepts each ID once, so no answer is lost or sent twice after a restart.
type follower struct {
	stores   Stores
	bus      *event.Bus
	outbox   *outbox
	senderOf func(channel, account string) *sender
	runs     sync.Map // by run ID: a *following
}

// get returns a followed run, or nil.
func (h *follower) get(id protocol.RunID) *following {
	f, _ := h.runs.Load(id)
	run, _ := f.(*following)
	return run
}

// forget stops following a run.
func (h *follower) forget(ctx context.Context, id protocol.RunID) {
	h.runs.Delete(id)
	if err := h.stores.Channels.EndRun(context.WithoutCancel(ctx), id); err != nil {
		slog.Warn("Deleting a finished run of a channel failed", "run", id, "err", err)
	}
}

// isRelevant selects the changes that concern runs of channels.
func isRelevant(c protocol.Change) bool {
	switch c.Kind {
	case protocol.ChangeChat:
		return c.Chat.RunID != nil && c.Chat.State != protocol.ChatDelta && c.Chat.State != protocol.ChatWaiting
	case protocol.ChangeQuestion:
		return c.Question.RunID != "" && c.Question.State == protocol.QuestionPending
	}
	return c.Kind == protocol.ChangeRun
}

// run puts the answers of the channels' runs into the outbox until ctx is cancelled.
func (h *follower) run(ctx context.Context) {
	sub := h.bus.SubscribeOnly(isRelevant)
	defer sub.Close()
	crash.Run("channel", func() { h.catchUp(ctx) })
	purge, again := time.Now().Add(purgeInterval), time.Now().Add(recheckInterval)
	for ctx.Err() == nil {
		step, cancel := context.WithDeadline(ctx, again)
		c, err := sub.Next(step)
		cancel()
		if err == nil {
			crash.Run("channel", func() { h.handle(ctx, c) })
		}
		if time.Now().Before(again) || ctx.Err() != nil {
			continue
		}
		again = time.Now().Add(recheckInterval)
		crash.Run("channel", func() { h.catchUp(ctx) })
		if time.Now().After(purge) {
			purge = time.Now().Add(purgeInterval)
			if err := h.stores.Outbox.Purge(ctx, now()-outboxRetention.Milliseconds()); err != nil && ctx.Err() == nil {
				slog.Warn("Removing old messages to channels failed", "err", err)
			}
		}
	}
}

// catchUp delivers the answers of events that were missed, and stops following finished runs. An
// unknown run of an earlier start is dropped, because it never reached its chat. One of this start
// may not be stored yet.
func (h *follower) catchUp(ctx context.Context) {
	for _, value := range h.runs.Range {
		f := value.(*following)
		r, err := h.stores.Runs.Get(ctx, f.Run)
		switch {
		case errors.Is(err, protocol.ErrNotFound):
			if f.earlier {
				h.forget(ctx, f.Run)
			}
		case err != nil:
			slog.Error("Reading a run of a channel failed", "run", f.Run, "err", err)
		default:
			h.deliverAnswers(ctx, f, r.EndedAt > 0)
		}
	}
}

func (h *follower) handle(ctx context.Context, c protocol.Change) {
	switch c.Kind {
	case protocol.ChangeResync:
		h.catchUp(ctx)
	case protocol.ChangeChat:
		if f := h.get(*c.Chat.RunID); f != nil {
			h.deliverAnswers(ctx, f, c.Chat.State == protocol.ChatFinal || c.Chat.State == protocol.ChatErrState)
		}
	case protocol.ChangeQuestion:
		if f := h.get(c.Question.RunID); f != nil {
			h.setTyping(f, false)
			text := "One moment: the person I work for has to approve something before I continue."
			if err := h.outbox.add(ctx, "ask:"+string(c.Question.ID), outboundTo(f.Route, f.Session, text)); err != nil {
				slog.Error("Telling a channel about a pending approval failed", "run", f.Run, "err", err)
			}
		}
	case protocol.ChangeRun:
		if f := h.get(c.Run.RunID); f != nil {
			h.setTyping(f, slices.Contains([]string{protocol.RunThinking, protocol.RunStreaming, protocol.RunTools, protocol.RunRetrying}, c.Run.State))
		}
	}
}

// setTyping sends the typing state when it has changed.
func (h *follower) setTyping(f *following, on bool) {
	if f.typing == on {
		return
	}
	f.typing = on
	if l := h.senderOf(f.Route.Channel, f.Route.AccountID); l != nil {
		select {
		case l.typing <- protocol.ChannelTyping{Channel: f.Route.Channel, AccountID: f.Route.AccountID, Peer: f.Route.Peer, SessionKey: f.Session, Typing: on}:
		default:
		}
	}
}

// deliverAnswers puts those answers of a run into the outbox that are not there yet. If over is
// set, the run has ended and is forgotten.
func (h *follower) deliverAnswers(ctx context.Context, f *following, over bool) {
	if err := h.putAnswers(ctx, f, over); err != nil {
		if ctx.Err() == nil {
			slog.Error("Storing an answer in the outbox failed", "run", f.Run, "err", err)
		}
		return // catchUp tries again
	}
	if over {
		h.setTyping(f, false)
		h.forget(ctx, f.Run)
	}
}

func (h *follower) putAnswers(ctx context.Context, f *following, over bool) error {
	msgs, err := h.stores.Messages.OfRun(ctx, f.Run)
	if err != nil {
		return err
	}
	for _, m := range msgs {
		if m.Role != protocol.RoleAssistant || m.Origin != protocol.OriginPerson {
			continue
		}
		if err := h.outbox.add(ctx, "msg:"+string(m.ID), outboundTo(f.Route, f.Session, m.Content.Text())); err != nil {
			return err
		}
	}
	if !over {
		return nil
	}
	r, err := h.stores.Runs.Get(ctx, f.Run)
	if err != nil {
		return err
	}
	switch r.State {
	case protocol.RunFailed:
		text := "I could not finish this."
		switch {
		case r.Error == nil:
		case errors.Is(r.Error, protocol.ErrIncomplete):
			text = format.Clip(r.Error.Message, 500)
		default:
			text = fmt.Sprintf("I could not finish this: %s", format.Clip(r.Error.Message, 500))
		}
		return h.outbox.add(ctx, "end:"+string(f.Run), outboundTo(f.Route, f.Session, text))
	case protocol.RunCancelled:
		return h.outbox.add(ctx, "end:"+string(f.Run), outboundTo(f.Route, f.Session, "The task was stopped."))
	}
	return nil
}

// Prefixes of the IDs of runs that answer a channel's message, or a background command.
const (
	inboundRun = "in-"
	eventRun   = "exec-"
)

// Follow sends the answers of a run that is about to start to the chat's last sender, if the run
// after was followed itself. Unfollow reverts that.
func (h *follower) Follow(ctx context.Context, chat protocol.SessionKey, run, after protocol.RunID) error {
	if !strings.HasPrefix(string(after), inboundRun) && !strings.HasPrefix(string(after), eventRun) {
		return nil
	}
	route, at, err := h.stores.Channels.LastRoute(ctx, chat)
	if errors.Is(err, protocol.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	f := &following{ChannelRun: store.ChannelRun{Run: run, Session: chat, Route: route}}
	if err := h.stores.Channels.StartRun(ctx, f.ChannelRun, at); err != nil {
		return err
	}
	h.runs.Store(run, f)
	return nil
}

// Unfollow forgets a run that did not start.
func (h *follower) Unfollow(ctx context.Context, run protocol.RunID) {
	if h.get(run) != nil {
		h.forget(ctx, run)
	}
}
