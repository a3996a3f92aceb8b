package notify

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// rights is what a person lets a program do, where the system asks them.
type rights int

const (
	undecided rights = iota // nobody answered yet
	refused
	granted
	quiet // notifications are kept in a list and not put on the screen
)

// rightsOf reads UNAuthorizationStatus (0 not determined, 1 denied, 2 authorized, 3 provisional, 4 ephemeral) and UNAlertStyle (0 none, 1 banner, 2 alert)
// of Apple's User Notifications framework.
func rightsOf(status, style int) rights {
	switch {
	case status == 0:
		return undecided
	case status == 1:
		return refused
	case style == 0:
		return quiet
	}
	return granted
}

// center is a system's notification center that asks the person whether a program may notify. It is safe for use by many goroutines.
type center interface {
	// rights says what the person allows now.
	rights(ctx context.Context) (rights, error)
	// ask has the system ask the person. The answer is told as one of the answer events, once; that may take days.
	ask()
	// post shows a notification, or changes the one with that name.
	post(ctx context.Context, name string, m Message) error
	// take takes a notification back; one that is not there is fine.
	take(name string)
	close()
}

// event is what a center tells: what the person did with a notification, or answered.
type event struct{ what, name string }

// What events tell beside the keys of a notification's actions.
const (
	answerYes    = "yes"
	answerNo     = "no"
	answerFailed = "failed" // the system asked nobody, or says so also when the answer was no
)

// namePrefix parts our notifications from those that a library of this program may show.
const namePrefix = "fairlead-"

var errQuiet = errors.New("the system's settings keep notifications of Fairlead from the screen")

// asking shows notifications in a center, once the person allowed that. Where the system has none for this program, they are plain.
type asking struct {
	center
	plain   system
	actions Actions
	events  chan event
	done    sync.WaitGroup

	asked bool        // of the notifier's goroutine
	none  atomic.Bool // the center has nothing for us

	mu    sync.Mutex // guards shown: ids, the oldest first
	shown []string
}

// openAsking begins to use a center, which open gives; it tells its events by the function that open gets, from any thread.
func openAsking(open func(tell func(event)) center, plain system, actions Actions) *asking {
	a := &asking{plain: plain, actions: actions, events: make(chan event, maxWaiting)}
	a.center = open(a.tell)
	a.done.Go(a.listen)
	return a
}

// tell does not wait: it is called on a thread of the system.
func (a *asking) tell(e event) {
	select {
	case a.events <- e:
	default: // nobody clicks that fast
	}
}

func (a *asking) show(ctx context.Context, m Message) error {
	if a.none.Load() {
		return a.plain.show(ctx, m)
	}
	r, err := a.rights(ctx)
	if err != nil {
		return err
	}
	switch r {
	case undecided:
		if !a.asked {
			a.asked = true
			a.ask()
		}
		return errLater
	case refused:
		return errOff
	}
	if err := a.put(ctx, m); err != nil {
		return err
	}
	if r == quiet {
		return errQuiet
	}
	return nil
}

func (a *asking) put(ctx context.Context, m Message) error {
	a.mu.Lock()
	a.shown = append(slices.DeleteFunc(a.shown, func(id string) bool { return id == m.ID }), m.ID)
	old := ""
	if len(a.shown) > maxShown {
		old, a.shown = a.shown[0], slices.Delete(a.shown, 0, 1)
	}
	a.mu.Unlock()
	if old != "" {
		a.take(nameOf(old))
	}
	m.Title, m.Body = oneLine(m.Title, 100), oneLine(m.Body, 300)
	return a.post(ctx, nameOf(m.ID), m)
}

// maxShown is how many notifications are kept to be taken back.
const maxShown = 32

// nameOf is a message's name in the center: text without a zero, as C wants it.
func nameOf(id string) string {
	return namePrefix + strings.ToValidUTF8(strings.ReplaceAll(id, "\x00", ""), "\uFFFD")
}

func (a *asking) remove(ctx context.Context, id string) {
	a.mu.Lock()
	had := slices.Contains(a.shown, id)
	a.shown = slices.DeleteFunc(a.shown, func(x string) bool { return x == id })
	a.mu.Unlock()
	if had {
		a.take(nameOf(id))
	}
	a.plain.remove(ctx, id)
}

func (a *asking) locked(ctx context.Context) bool { return a.plain.locked(ctx) }

// listen takes what the person does. It ends with close.
func (a *asking) listen() {
	for e := range a.events {
		switch e.what {
		case answerYes, answerNo:
			a.actions.again()
		case answerFailed:
			ctx, cancel := context.WithTimeout(context.Background(), limit)
			r, err := a.rights(ctx)
			cancel()
			a.none.Store(err != nil || r == undecided)
			a.actions.again()
		case keyDefault, keyReview, keyDeny:
			if id, ok := a.find(e.name); ok {
				if e.what == keyDeny {
					a.actions.Deny(id)
				} else {
					a.actions.Review(id)
				}
			}
		}
	}
}

// find is the message that a notification of ours is about. A click takes it from the screen.
func (a *asking) find(name string) (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, id := range a.shown {
		if nameOf(id) == name {
			a.shown = slices.Delete(a.shown, i, i+1)
			return id, true
		}
	}
	return "", false
}

func (a *asking) close() {
	a.mu.Lock()
	shown := a.shown
	a.shown = nil
	a.mu.Unlock()
	for _, id := range shown {
		a.take(nameOf(id))
	}
	a.center.close() // tells nothing any more
	close(a.events)
	a.done.Wait()
	a.plain.close()
}
