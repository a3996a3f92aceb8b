// Package notify tells a person outside of Fairlead's windows that something waits for them, by the system's notifications.
//
// On Linux and the BSDs they go over D-Bus to the desktop's notification server and have buttons where it offers that. On Windows they go to the Windows
// Runtime and have buttons; where that cannot be called they are plain. On macOS they have buttons when the program runs from a bundle and the system
// gave it notifications; a single binary has plain ones. What a notification says is left out while the screen is locked.
package notify

import (
	"context"
	"errors"
	"log/slog"
	"slices"
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
	// News tells of something, and nothing waits for the person.
	News bool
}

// button is the word for [Actions.Review].
func (m Message) button() string {
	if m.News {
		return "Show"
	}
	return "Review"
}

// Actions are what the buttons do. They are called on a goroutine of the notifier, one at a time.
type Actions struct {
	Review func(id string)
	Deny   func(id string)
	// Shown says that the system took a message and that its content is on the screen.
	Shown func(id string)
	// Off says why there are no notifications, in a sentence for the person: they are off in the system's settings. It is said once.
	Off func(why string)

	// again shows what was held back by errLater; of the notifier.
	again func()
}

// The keys of a notification's actions, as the systems keep them; "default" is a click on the notification itself.
const (
	keyDefault = "default"
	keyReview  = "review"
	keyDeny    = "deny"
)

// errOff says that the person wants no notifications.
var errOff = errors.New("notifications of Fairlead are off in the system's settings")

// errLater says that a message cannot be shown yet; the system calls again when it can, or never will.
var errLater = errors.New("nobody has answered yet whether Fairlead may show notifications")

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

	// Of run's goroutine:
	off  bool      // there are none, and that was said
	held []Message // to be shown when the system can
}

// New starts a notifier. Close ends it. Where the system has no notifications, its methods do nothing.
func New(actions Actions, log *slog.Logger) *Notifier {
	return start(open, actions, log)
}

func start(open func(Actions) (system, error), actions Actions, log *slog.Logger) *Notifier {
	ctx, cancel := context.WithCancel(context.Background())
	n := &Notifier{actions: actions, log: log, jobs: make(chan func(context.Context), maxWaiting), cancel: cancel}
	n.actions.again = func() { n.do(n.showHeld) }
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
	n.do(func(ctx context.Context) { n.show(ctx, m) })
}

func (n *Notifier) show(ctx context.Context, m Message) {
	n.release(m.ID)
	sys := of(ctx)
	hidden := sys.locked(ctx)
	said := m
	if hidden {
		said = Message{ID: m.ID, Title: "Fairlead needs you", Body: "Unlock the screen to see what it is about.", News: m.News}
		if m.News {
			said.Title = "Fairlead has news"
		}
	}
	err := sys.show(ctx, said)
	if err != nil {
		n.log.Info("A notification was not shown", "err", err)
	}
	switch {
	case errors.Is(err, errLater):
		if n.held = append(n.held, m); len(n.held) > maxWaiting {
			n.held = slices.Delete(n.held, 0, 1)
		}
	case errors.Is(err, errOff) && !n.off && n.actions.Off != nil:
		n.off = true
		n.actions.Off("You are not told when something needs you: " + err.Error() + ".")
	case err == nil && !hidden && n.actions.Shown != nil:
		n.actions.Shown(m.ID)
	}
}

// showHeld shows what was held back.
func (n *Notifier) showHeld(ctx context.Context) {
	held := n.held
	n.held = nil
	for _, m := range held {
		n.show(ctx, m)
	}
}

func (n *Notifier) release(id string) {
	n.held = slices.DeleteFunc(n.held, func(m Message) bool { return m.ID == id })
}

// Remove takes a message back that is not needed any more.
func (n *Notifier) Remove(id string) {
	n.do(func(ctx context.Context) {
		n.release(id)
		of(ctx).remove(ctx, id)
	})
}

// Close ends the notifier and waits for what is under way.
func (n *Notifier) Close() {
	n.cancel()
	n.done.Wait()
}

// oneLine is a text without line breaks and what a system would obey, cut to a length that
// notifications have room for. It never begins with a dash: osascript would take the name of a file
// that was sent for an option.
func oneLine(s string, length int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if rest, dash := strings.CutPrefix(s, "-"); dash {
		s = "\u2010" + rest // a hyphen that looks the same
	}
	if r := []rune(s); len(r) > length {
		s = string(r[:length-1]) + "…"
	}
	return s
}
