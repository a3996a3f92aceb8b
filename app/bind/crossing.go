package bind

import (
	"context"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/native"
)

// Times between crossings that show new states. After each one, the toolkit draws all of a window
// again, which takes 10 to 20 ms of a core without a graphics processor.
const (
	// redrawInterval is enough for growing text: at 33 words a second, each redraw adds half a line, and
	// a person reads four to five words a second.
	redrawInterval = 180 * time.Millisecond
	// startInterval is the first interval after a pause, and what each next one is longer, so that the
	// first words of an answer appear sooner.
	startInterval = 45 * time.Millisecond
	pause         = 500 * time.Millisecond
	// gatherTime is how long a crossing waits for the other watchers of the same change.
	gatherTime = 4 * time.Millisecond
)

// crossing passes the functions of watchers and clocks to the GUI thread together, so that one change
// that several views show costs one frame.
type crossing struct {
	cross func(f func(), isClock bool) // runs f on the GUI thread and waits for its end

	mu   sync.Mutex // guards the fields below
	next []function // waits for the next crossing
	ran  chan struct{}
	last time.Time // of the latest crossing that showed a state
	row  int       // number of these since the latest pause
}

// function is what crosses. A clock does not end a rest of the GUI thread, and delays no state.
type function struct {
	f       func()
	isClock bool
}

func newCrossing() *crossing { return &crossing{cross: cross} }

func cross(f func(), isClock bool) {
	if isClock {
		fyne.DoAndWait(native.Interrupt(f))
		return
	}
	fyne.DoAndWait(native.Wake(f))
}

type crossingKey struct{}

// Together returns a context whose watchers and clocks cross to the GUI thread together.
func Together(ctx context.Context) context.Context {
	return context.WithValue(ctx, crossingKey{}, newCrossing())
}

// crossingOf returns the shared crossing of ctx, or one of its own.
func crossingOf(ctx context.Context) *crossing {
	if c, ok := ctx.Value(crossingKey{}).(*crossing); ok {
		return c
	}
	return newCrossing()
}

// run runs f on the GUI thread at the next crossing. It returns then, or when ctx ends.
func (c *crossing) run(ctx context.Context, f function) {
	c.mu.Lock()
	c.next = append(c.next, f)
	if len(c.next) > 1 { // the first one crosses with all
		ran := c.ran
		c.mu.Unlock()
		select {
		case <-ran:
		case <-ctx.Done():
		}
		return
	}
	ran := make(chan struct{})
	c.ran = ran
	wait := c.untilDue()
	c.mu.Unlock()
	if !f.isClock || wait > 0 {
		wait = max(wait, 0) + gatherTime
	}
	defer close(ran)
	select {
	case <-time.After(wait):
	case <-ctx.Done(): // the others cross now, without f
	}
	list := c.take()
	isClock := !slices.ContainsFunc(list, func(f function) bool { return !f.isClock })
	c.cross(func() {
		for _, f := range list {
			f.f()
		}
	}, isClock)
}

// rest waits until the next crossing is due, so that a watcher then passes the latest state.
func (c *crossing) rest(ctx context.Context) {
	c.mu.Lock()
	wait := c.untilDue()
	c.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
}

// untilDue returns the time until the next crossing may show a state. The caller holds the lock.
func (c *crossing) untilDue() time.Duration {
	return time.Until(c.last.Add(min(redrawInterval, time.Duration(c.row)*startInterval)))
}

// take returns the functions of a crossing that begins now.
func (c *crossing) take() []function {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.next
	c.next, c.ran = nil, nil
	if slices.ContainsFunc(list, func(f function) bool { return !f.isClock }) {
		now := time.Now()
		if now.Sub(c.last) > pause {
			c.row = 0
		}
		c.last = now
		c.row++
	}
	return list
}
