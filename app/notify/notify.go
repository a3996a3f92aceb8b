// Package notify shows notifications of the system, for pending approvals and news while Fairlead's
// windows are not in front. While the screen is locked, they do not show their content.
//
// Linux and the BSDs: the desktop's notification server over D-Bus, called here because the calls of
// github.com/esiqveland/notify have no time limit. Windows: the Windows Runtime, called by hand
// because no maintained library with buttons and removal could be fetched when this was written.
// macOS: buttons require an application bundle and the person's permission.
package notify

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
)

// Message is a notification; it replaces an earlier one with the same ID.
type Message struct {
	ID          string
	Title, Body string
	// Allow adds a button that allows a question once. Only for a question that Body shows in full.
	Allow bool
	// Deny adds a button that denies a question.
	Deny bool
	// News marks a message that informs only and needs no answer.
	News bool
	// Sound plays the system's sound for messages.
	Sound bool
}

// button is a button of a notification.
type button struct{ key, label string }

// buttons returns the buttons of a message. A click elsewhere on it is [keyDefault].
func (m Message) buttons() []button {
	if m.News {
		return []button{{keyReview, "Show"}}
	}
	var list []button
	if m.Allow {
		list = append(list, button{keyAllow, "Allow once"})
	}
	if m.Deny {
		list = append(list, button{keyDeny, "Deny"})
	}
	return append(list, button{keyReview, "Review"})
}

// Actions are the callbacks of the buttons, on a goroutine of the notifier, one at a time.
type Actions struct {
	Review func(id string)
	Allow  func(id string)
	Deny   func(id string)
	// Shown is called when the system has accepted a message and its content is visible.
	Shown func(id string)
	// Disabled is called once, with a reason for the person, if the settings disable them.
	Disabled func(why string)

	// retry shows the messages deferred because of errLater; for use by the notifier.
	retry func()
}

func (a Actions) perform(key, id string) {
	switch key {
	case keyDefault, keyReview:
		a.Review(id)
	case keyAllow:
		a.Allow(id)
	case keyDeny:
		a.Deny(id)
	}
}

// The keys of a notification's actions; "default" is a click on the notification itself.
const (
	keyDefault = "default"
	keyReview  = "review"
	keyAllow   = "allow"
	keyDeny    = "deny"
)

// errOff means that the person disabled notifications.
var errOff = errors.New("Fairlead's notifications are turned off in the system settings")

// errLater means that a message cannot be shown yet; the system calls again when it can, or never.
var errLater = errors.New("the permission for notifications is not granted yet")

// timeout is the time limit of the system for one notification.
const timeout = 5 * time.Second

// maxWaiting is the maximum number of notifications that wait; further ones are dropped.
const maxWaiting = 16

// system shows notifications by the means of one operating system.
type system interface {
	// show shows a message and returns when the system has accepted it.
	show(ctx context.Context, m Message) error
	// remove removes a message; it ignores unknown IDs.
	remove(ctx context.Context, id string)
	// locked reports whether the screen is locked; false if that is unknown.
	locked(ctx context.Context) bool
	close()
}

// job is one action on the system, with its time limit.
type job func(context.Context, system)

// Notifier shows notifications. Its methods return at once and are safe for concurrent use.
type Notifier struct {
	actions Actions
	log     *slog.Logger
	jobs    chan job
	cancel  context.CancelFunc
	done    crash.Group

	// Used by run's goroutine only:
	off      bool      // there are no notifications, and Off was called
	deferred []Message // messages to show when the system can
}

// New starts a notifier. Close stops it. On a system without notifications its methods do nothing.
func New(actions Actions, log *slog.Logger) *Notifier {
	return start(open, actions, log)
}

func start(open func(Actions) (system, error), actions Actions, log *slog.Logger) *Notifier {
	ctx, cancel := context.WithCancel(context.Background())
	n := &Notifier{actions: actions, log: log, jobs: make(chan job, maxWaiting), cancel: cancel}
	n.actions.retry = func() { n.do(n.showDeferred) }
	n.done.Go(func() { n.run(ctx, open) })
	return n
}

// run owns the system. It connects with the first notification, and again after a failure.
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
		case do := <-n.jobs:
			if sys == nil {
				var err error
				if sys, err = open(n.actions); err != nil {
					sys = nil
					n.log.Info("Notifications are unavailable", "err", err)
					continue
				}
			}
			limited, cancel := context.WithTimeout(ctx, timeout)
			do(limited, sys)
			timedOut := limited.Err() != nil
			cancel()
			if timedOut && ctx.Err() == nil {
				sys.close()
				sys = nil
			}
		}
	}
}

// do queues a job, unless the system is too slow.
func (n *Notifier) do(j job) {
	select {
	case n.jobs <- j:
	default:
	}
}

// Show shows a message.
func (n *Notifier) Show(m Message) {
	n.do(func(ctx context.Context, sys system) { n.show(ctx, sys, m) })
}

func (n *Notifier) show(ctx context.Context, sys system, m Message) {
	n.dropDeferred(m.ID)
	hidden := sys.locked(ctx)
	visible := m
	if hidden {
		visible = Message{ID: m.ID, Title: "Fairlead needs you", Body: "Unlock the screen to see more.", News: m.News, Sound: m.Sound}
		if m.News {
			visible.Title = "Fairlead has news"
		}
	}
	err := sys.show(ctx, visible)
	if err != nil {
		n.log.Info("Showing a notification failed", "err", err)
	}
	switch {
	case errors.Is(err, errLater):
		if n.deferred = append(n.deferred, m); len(n.deferred) > maxWaiting {
			n.deferred = slices.Delete(n.deferred, 0, 1)
		}
	case errors.Is(err, errOff) && !n.off && n.actions.Disabled != nil:
		n.off = true
		n.actions.Disabled("Notifications are unavailable: " + err.Error() + ".")
	case err == nil && !hidden && n.actions.Shown != nil:
		n.actions.Shown(m.ID)
	}
}

func (n *Notifier) showDeferred(ctx context.Context, sys system) {
	list := n.deferred
	n.deferred = nil
	for _, m := range list {
		n.show(ctx, sys, m)
	}
}

func (n *Notifier) dropDeferred(id string) {
	n.deferred = slices.DeleteFunc(n.deferred, func(m Message) bool { return m.ID == id })
}

// Remove removes a message that is no longer needed.
func (n *Notifier) Remove(id string) {
	n.do(func(ctx context.Context, sys system) {
		n.dropDeferred(id)
		sys.remove(ctx, id)
	})
}

// Close stops the notifier and waits for the action in progress.
func (n *Notifier) Close() {
	n.cancel()
	n.done.Wait()
}

// oneLine returns a short text without control characters. It never begins with a dash, which
// osascript would parse as an option: file names come from other people.
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
	return format.Clip(s, length)
}
