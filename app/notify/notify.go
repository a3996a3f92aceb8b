// Package notify tells a person outside of Fairlead's windows that something waits for them, by the system's notifications.
//
// On Linux and the BSDs they go over D-Bus to the desktop's notification server and have buttons where it offers that. On Windows they go to the Windows
// Runtime and have buttons; where that cannot be called they are plain. On macOS they are plain: buttons need a signed bundle there, which a single
// binary is not. What a notification says is left out while the screen is locked.
package notify

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Message is a notification. ID is the caller's; a later message with the same ID takes the place of the earlier one.
type Message struct {
	ID          string
	Title, Body string
	// Deny offers to deny beside Review.
	Deny bool
}

// Actions are what the buttons do. They are called on a goroutine of the notifier, one at a time.
type Actions struct {
	Review func(id string)
	Deny   func(id string)
	// Shown says that the system took a message and that its content is on the screen.
	Shown func(id string)
}

// limit is how long the system may take for one notification.
const limit = 5 * time.Second

// maxWaiting is how many notifications wait for a slow system; beyond that the newest are left out.
const maxWaiting = 16

// system shows notifications by one system's means.
type system interface {
	// show shows a message and returns when the system took it.
	show(ctx context.Context, m Message) error
	// remove takes a message back; one that is not there is fine.
	remove(ctx context.Context, id string)
	// locked reports whether the screen is locked; false when that cannot be told.
	locked(ctx context.Context) bool
	close()
}

// Notifier shows notifications one after the other. Its methods return at once and are safe for use by many goroutines.
type Notifier struct {
	actions Actions
	log     *slog.Logger
	jobs    chan func(context.Context)
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

// New starts a notifier. Close ends it. Where the system has no notifications, its methods do nothing.
func New(actions Actions, log *slog.Logger) *Notifier {
	return start(open, actions, log)
}

func start(open func(Actions) (system, error), actions Actions, log *slog.Logger) *Notifier {
	ctx, cancel := context.WithCancel(context.Background())
	n := &Notifier{actions: actions, log: log, jobs: make(chan func(context.Context), maxWaiting), cancel: cancel}
	n.done.Go(func() { n.run(ctx, open) })
	return n
}

// run owns the system. It is asked for when the first notification comes, and again after it failed.
func (n *Notifier) run(ctx context.Context, open func(Actions) (system, error)) {
	var sys system
	defer func() {
		if sys != nil {
			sys.close()
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case job := <-n.jobs:
			if sys == nil {
				var err error
				if sys, err = open(n.actions); err != nil {
					sys = nil
					n.log.Info("There are no notifications", "err", err)
					continue
				}
			}
			at, cancel := context.WithTimeout(context.WithValue(ctx, systemKey{}, sys), limit)
			job(at)
			failed := at.Err() != nil
			cancel()
			if failed && ctx.Err() == nil {
				sys.close()
				sys = nil
			}
		}
	}
}

// systemKey is where a job finds the system.
type systemKey struct{}

func of(ctx context.Context) system { return ctx.Value(systemKey{}).(system) }

func (n *Notifier) do(job func(context.Context)) {
	select {
	case n.jobs <- job:
	default: // the system does not keep up
	}
}

// Show shows a message.
func (n *Notifier) Show(m Message) {
	n.do(func(ctx context.Context) {
		sys := of(ctx)
		hidden := sys.locked(ctx)
		if hidden {
			m = Message{ID: m.ID, Title: "Fairlead needs you", Body: "Unlock the screen to see what it is about."}
		}
		if err := sys.show(ctx, m); err != nil {
			n.log.Info("A notification was not shown", "err", err)
			return
		}
		if !hidden && n.actions.Shown != nil {
			n.actions.Shown(m.ID)
		}
	})
}

// Remove takes a message back that is not needed any more.
func (n *Notifier) Remove(id string) {
	n.do(func(ctx context.Context) { of(ctx).remove(ctx, id) })
}

// Close ends the notifier and waits for what is under way.
func (n *Notifier) Close() {
	n.cancel()
	n.done.Wait()
}

// oneLine is a text without line breaks and what a system would obey, cut to a length that notifications have room for.
func oneLine(s string, length int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > length {
		s = string(r[:length-1]) + "…"
	}
	return s
}
