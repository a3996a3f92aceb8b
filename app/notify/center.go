package notify

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"fairlead/gateway/peer/crash"
)

// permission is the permission for notifications, on systems that ask the person.
type permission int

const (
	undecided permission = iota // not answered yet
	refused
	granted
	quiet // notifications appear in a list only, not on the screen
)

// permissionOf reads UNAuthorizationStatus (0 not determined, 1 denied, 2 authorized, 3
// provisional, 4 ephemeral) and UNAlertStyle (0 none, 1 banner, 2 alert) of Apple's User
// Notifications framework.
func permissionOf(status, style int) permission {
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

// center is the notification center of macOS or Windows. It is safe for concurrent use.
type center interface {
	// rights returns the current permission.
	rights(ctx context.Context) (permission, error)
	// ask is called while the permission is undecided: it makes the system ask the person. The
	// answer arrives once as an answer event, possibly after days.
	ask()
	// post shows a notification, or replaces the one with the same name.
	post(ctx context.Context, name string, m Message) error
	// take removes a notification; it ignores unknown names.
	take(name string)
	close()
}

// event is an event of a center: an action on a notification, or an answer.
type event struct{ what, name string }

// Values of events besides the keys of a notification's actions.
const (
	answerYes    = "yes"
	answerNo     = "no"
	answerFailed = "failed" // the system did not ask, or reports the denial as an error
)

// namePrefix distinguishes this program's notifications from those of a library in it.
const namePrefix = "fairlead-"

var errQuiet = errors.New("the system settings keep Fairlead's notifications off the screen")

// centerSystem shows notifications in a center once the person has given permission.
type centerSystem struct {
	center
	plain   system // shows notifications if there is no center for this program, and detects the lock
	actions Actions
	events  chan event
	done    crash.Group

	requested   bool        // used by the notifier's goroutine only
	unavailable atomic.Bool // there is no center for this program

	mu    sync.Mutex        // guards shown
	shown map[string]string // IDs of messages by name
}

// openCenter starts using a center. open receives a function for events, for any thread.
func openCenter(open func(send func(event)) center, plain system, actions Actions) *centerSystem {
	a := &centerSystem{plain: plain, actions: actions, events: make(chan event, maxWaiting), shown: make(map[string]string)}
	a.center = open(a.send)
	a.done.Go(a.listen)
	return a
}

// send does not block: the system calls it on its own thread.
func (a *centerSystem) send(e event) {
	select {
	case a.events <- e:
	default: // drop it: more clicks than a person can make
	}
}

func (a *centerSystem) show(ctx context.Context, m Message) error {
	if a.unavailable.Load() {
		return a.plain.show(ctx, m)
	}
	r, err := a.rights(ctx)
	if err != nil {
		return err
	}
	switch r {
	case undecided:
		if !a.requested {
			a.requested = true
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

func (a *centerSystem) put(ctx context.Context, m Message) error {
	name := nameOf(m.ID)
	a.mu.Lock()
	a.shown[name] = m.ID
	a.mu.Unlock()
	m.Title, m.Body = oneLine(m.Title, 100), oneLine(m.Body, 300)
	return a.post(ctx, name, m)
}

// nameOf returns a message's name in the center, without NUL characters, for C.
func nameOf(id string) string {
	return namePrefix + strings.ToValidUTF8(strings.ReplaceAll(id, "\x00", ""), "\uFFFD")
}

func (a *centerSystem) remove(_ context.Context, id string) {
	a.forget(nameOf(id))
	a.take(nameOf(id))
}

func (a *centerSystem) locked(ctx context.Context) bool { return a.plain.locked(ctx) }

// listen handles the person's actions. It returns after close.
func (a *centerSystem) listen() {
	for e := range a.events {
		switch e.what {
		case answerYes, answerNo:
			a.actions.retry()
		case answerFailed:
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			r, err := a.rights(ctx)
			cancel()
			a.unavailable.Store(err != nil || r == undecided)
			a.actions.retry()
		default: // a click, which has removed the notification from the screen
			if id := a.forget(e.name); id != "" {
				a.actions.perform(e.what, id)
			}
		}
	}
}

// forget returns the ID of a message that is no longer shown, or "".
func (a *centerSystem) forget(name string) (id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id = a.shown[name]
	delete(a.shown, name)
	return id
}

func (a *centerSystem) close() {
	a.mu.Lock()
	names := slices.Sorted(maps.Keys(a.shown))
	clear(a.shown)
	a.mu.Unlock()
	for _, name := range names {
		a.take(name)
	}
	a.center.close() // sends no events any more
	close(a.events)
	a.done.Wait()
}
