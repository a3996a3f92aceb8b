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
	// recheckInterval is the interval at which runs are checked whose end, or an answer of which,
	// could not be stored.
	recheckInterval = time.Minute
)

// followedRun is a run whose answers go to a channel.
type followedRun struct {
	store.ChannelRun
	earlier bool // started before this start of the gateway
	// Only the goroutine that handles the events uses these:
	typing bool
	missed bool // an answer may not be in the outbox
}

// Answers puts the answers of runs into the outbox. It is safe for concurrent use. It learns them
// from the events of the run, which end with the run's last state. After a restart, after lost
// events and after a failed write it reads the run from the store. The outbox accepts each ID once,
// so no answer is lost or sent twice.
type Answers struct {
	routes   answerRoutes
	runs     runStore
	messages runMessages
	bus      *event.Bus
	outbox   *outbox
	registry *registry
	followed sync.Map // by run ID: a *followedRun
}

// answerRoutes stores the followed runs and where their answers go; *store.Channels implements it.
type answerRoutes interface {
	StartRun(ctx context.Context, r store.ChannelRun, at int64) error
	EndRun(ctx context.Context, run protocol.RunID) error
	Runs(ctx context.Context) ([]store.ChannelRun, error)
	LastRoute(ctx context.Context, chat protocol.SessionKey) (store.Route, int64, error)
}

// runStore reads runs; *store.Runs implements it.
type runStore interface {
	Get(ctx context.Context, id protocol.RunID) (store.Run, error)
}

// runMessages reads the messages of a run; *store.Messages implements it.
type runMessages interface {
	OfRun(ctx context.Context, id protocol.RunID) ([]protocol.Message, error)
}

// load restores the followed runs of an earlier start.
func (a *Answers) load(ctx context.Context) error {
	runs, err := a.routes.Runs(ctx)
	for _, r := range runs {
		a.followed.Store(r.Run, &followedRun{ChannelRun: r, earlier: true, missed: true})
	}
	return err
}

// follow begins to follow a run that is about to start.
func (a *Answers) follow(ctx context.Context, r store.ChannelRun, at int64) error {
	if err := a.routes.StartRun(ctx, r, at); err != nil {
		return err
	}
	a.followed.Store(r.Run, &followedRun{ChannelRun: r})
	return nil
}

// get returns a followed run, or nil.
func (a *Answers) get(id protocol.RunID) *followedRun {
	f, _ := a.followed.Load(id)
	run, _ := f.(*followedRun)
	return run
}

// forget stops following a run.
func (a *Answers) forget(ctx context.Context, id protocol.RunID) {
	a.followed.Delete(id)
	if err := a.routes.EndRun(context.WithoutCancel(ctx), id); err != nil {
		slog.Warn("Deleting a finished run of a channel failed", "run", id, "err", err)
	}
}

// isRelevant selects the changes that concern runs of channels.
func isRelevant(c protocol.Change) bool {
	switch c.Kind {
	case protocol.ChangeMessage:
		return isAnswer(*c.Message)
	case protocol.ChangeQuestion:
		return c.Question.RunID != "" && c.Question.State == protocol.QuestionPending
	}
	return c.Kind == protocol.ChangeRun
}

// isAnswer reports whether a message of a run is for the person.
func isAnswer(m protocol.Message) bool {
	return m.RunID != "" && m.Role == protocol.RoleAssistant && m.Origin == protocol.OriginPerson
}

// run puts the answers of the channels' runs into the outbox until ctx is cancelled.
func (a *Answers) run(ctx context.Context) {
	sub := a.bus.SubscribeOnly(isRelevant)
	defer sub.Close()
	crash.Run("channel", func() { a.catchUp(ctx, true) })
	purge, again := time.Now().Add(purgeInterval), time.Now().Add(recheckInterval)
	for ctx.Err() == nil {
		step, cancel := context.WithDeadline(ctx, again)
		c, err := sub.Next(step)
		cancel()
		if err == nil {
			crash.Run("channel", func() { a.handle(ctx, c) })
		}
		if time.Now().Before(again) || ctx.Err() != nil {
			continue
		}
		again = time.Now().Add(recheckInterval)
		crash.Run("channel", func() { a.catchUp(ctx, false) })
		if time.Now().After(purge) {
			purge = time.Now().Add(purgeInterval)
			if err := a.outbox.messages.Purge(ctx, now()-outboxRetention.Milliseconds()); err != nil && ctx.Err() == nil {
				slog.Warn("Removing old messages to channels failed", "err", err)
			}
		}
	}
}

// catchUp delivers the answers that events did not bring: of all followed runs, or only of those
// that have ended or missed something. An unknown run of an earlier start is dropped, because it
// never reached its chat. One of this start may not be stored yet.
func (a *Answers) catchUp(ctx context.Context, all bool) {
	for _, value := range a.followed.Range {
		f := value.(*followedRun)
		r, err := a.runs.Get(ctx, f.Run)
		switch {
		case errors.Is(err, protocol.ErrNotFound):
			if f.earlier {
				a.forget(ctx, f.Run)
			}
		case err != nil:
			slog.Error("Reading a run of a channel failed", "run", f.Run, "err", err)
		case all || f.missed || r.EndedAt > 0:
			a.deliver(ctx, f, func() error { return a.addStored(ctx, f, r) })
			if r.EndedAt > 0 && !f.missed {
				a.end(ctx, f)
			}
		}
	}
}

func (a *Answers) handle(ctx context.Context, c protocol.Change) {
	switch c.Kind {
	case protocol.ChangeResync:
		a.catchUp(ctx, true)
	case protocol.ChangeMessage:
		if f := a.get(c.Message.RunID); f != nil {
			a.deliver(ctx, f, func() error { return a.addAnswer(ctx, f, *c.Message) })
		}
	case protocol.ChangeQuestion:
		if f := a.get(c.Question.RunID); f != nil {
			a.setTyping(f, false)
			text := "One moment: the person I work for has to approve something before I continue."
			if err := a.outbox.add(ctx, "ask:"+string(c.Question.ID), outboundTo(f.Route, f.Session, text)); err != nil {
				slog.Error("Telling a channel about a pending approval failed", "run", f.Run, "err", err)
			}
		}
	case protocol.ChangeRun:
		f := a.get(c.Run.RunID)
		if f == nil {
			return
		}
		a.setTyping(f, slices.Contains([]string{protocol.RunThinking, protocol.RunStreaming, protocol.RunTools, protocol.RunRetrying}, c.Run.State))
		if !c.Run.Over() {
			return
		}
		a.deliver(ctx, f, func() error { return a.addEnd(ctx, f, c.Run.State, c.Run.Error) })
		if !f.missed { // otherwise catchUp reads what is missing
			a.end(ctx, f)
		}
	}
}

// end stops following a run that has ended and whose answers are in the outbox.
func (a *Answers) end(ctx context.Context, f *followedRun) {
	a.setTyping(f, false)
	a.forget(ctx, f.Run)
}

// deliver adds answers with add. If that fails, catchUp does it later.
func (a *Answers) deliver(ctx context.Context, f *followedRun, add func() error) {
	err := add()
	if err != nil && ctx.Err() == nil {
		slog.Error("Storing an answer in the outbox failed", "run", f.Run, "err", err)
	}
	if err != nil {
		f.missed = true
	}
}

// setTyping sends the typing state when it has changed.
func (a *Answers) setTyping(f *followedRun, on bool) {
	if f.typing == on {
		return
	}
	f.typing = on
	if l := a.registry.senderOf(f.Route.Channel, f.Route.AccountID); l != nil {
		select {
		case l.typing <- protocol.ChannelTyping{Channel: f.Route.Channel, AccountID: f.Route.AccountID, Peer: f.Route.Peer, SessionKey: f.Session, Typing: on}:
		default:
		}
	}
}

// addStored adds the answers that a run has stored so far, and a note about its end.
func (a *Answers) addStored(ctx context.Context, f *followedRun, r store.Run) error {
	msgs, err := a.messages.OfRun(ctx, f.Run)
	if err != nil {
		return err
	}
	for _, m := range msgs {
		if isAnswer(m) {
			if err := a.addAnswer(ctx, f, m); err != nil {
				return err
			}
		}
	}
	if r.EndedAt > 0 {
		err = a.addEnd(ctx, f, r.State, r.Error)
	}
	f.missed = f.missed && err != nil
	return err
}

func (a *Answers) addAnswer(ctx context.Context, f *followedRun, m protocol.Message) error {
	return a.outbox.add(ctx, "msg:"+string(m.ID), outboundTo(f.Route, f.Session, m.Content.Text()))
}

// addEnd adds a note about a run that has failed or was cancelled.
func (a *Answers) addEnd(ctx context.Context, f *followedRun, state string, failure *protocol.Error) error {
	text := "The task was stopped."
	switch {
	case state == protocol.RunCancelled:
	case state != protocol.RunFailed:
		return nil
	case failure == nil:
		text = "I could not finish this."
	case errors.Is(failure, protocol.ErrIncomplete):
		text = format.Clip(failure.Message, 500)
	default:
		text = fmt.Sprintf("I could not finish this: %s", format.Clip(failure.Message, 500))
	}
	return a.outbox.add(ctx, "end:"+string(f.Run), outboundTo(f.Route, f.Session, text))
}

// Prefixes of the IDs of runs that answer a channel's message, or a background command.
const (
	inboundRun = "in-"
	eventRun   = "exec-"
)

// Follow sends the answers of a run that is about to start to the chat's last sender, if the run
// after was followed itself. Unfollow reverts that.
func (a *Answers) Follow(ctx context.Context, chat protocol.SessionKey, run, after protocol.RunID) error {
	if !strings.HasPrefix(string(after), inboundRun) && !strings.HasPrefix(string(after), eventRun) {
		return nil
	}
	route, at, err := a.routes.LastRoute(ctx, chat)
	if errors.Is(err, protocol.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return a.follow(ctx, store.ChannelRun{Run: run, Session: chat, Route: route}, at)
}

// Unfollow forgets a run that did not start.
func (a *Answers) Unfollow(ctx context.Context, run protocol.RunID) {
	if a.get(run) != nil {
		a.forget(ctx, run)
	}
}
