package native

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"github.com/go-gl/glfw/v3.4/glfw"
)

const (
	// restAfter is the time without an event after which the GUI thread rests.
	restAfter = time.Second
	// restFor is the longest rest: what Fyne itself does on the GUI thread wakes nobody, and may be
	// late by this time.
	restFor = 200 * time.Millisecond
	// hiddenRest is the same while no window is visible. Each rest, however long, costs about 60
	// wake-ups of Go's runtime: it looks for 10 ms whether the thread comes back.
	hiddenRest = time.Second
)

var (
	started    = time.Now()
	lastEvent  atomic.Int64 // nanoseconds after started
	awakeUntil atomic.Int64 // the same; see [StayAwake]
	canBeWoken atomic.Bool

	asleep sleep
)

// sleep is a time without visible windows and events. It is safe for concurrent use.
type sleep struct {
	mu    sync.Mutex
	ended chan struct{} // closed at the end; nil while awake
}

func (s *sleep) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = make(chan struct{})
	}
}

func (s *sleep) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		close(s.ended)
		s.ended = nil
	}
}

// Asleep returns nil, or while no window is visible and nothing happens a channel that is closed at
// the end of that.
func Asleep() <-chan struct{} {
	asleep.mu.Lock()
	defer asleep.mu.Unlock()
	return asleep.ended
}

// Rest lets the GUI thread sleep while nothing happens, until ctx ends. Fyne looks for events 60
// times a second, which alone takes 1 to 2 percent of a core. The system's next event ends a rest,
// and so does [Wake]. It must be called after the application has started. It calls isHidden, which
// reports whether no window is visible, on the GUI thread.
func Rest(ctx context.Context, isHidden func() bool) {
	canBeWoken.Store(true)
	defer canBeWoken.Store(false)
	defer asleep.end()
	for {
		pause := time.After(restAfter - quiet())
		select {
		case <-pause:
		case <-ctx.Done():
			return
		}
		if quiet() < restAfter {
			continue
		}
		rested := make(chan struct{})
		fyne.Do(func() {
			defer close(rested)
			if quiet() < restAfter || ctx.Err() != nil {
				return
			}
			if Asleep() == nil && isHidden() {
				asleep.begin()
			}
			length := restFor
			if Asleep() != nil && awakeUntil.Load() > 0 { // this desktop reports an opened menu of the tray
				length = hiddenRest
			}
			began := time.Now()
			glfw.WaitEventsTimeout(length.Seconds())
			if time.Since(began) < length-length/20 {
				noteEvent()
			}
		})
		select {
		case <-rested:
		case <-ctx.Done():
			return
		}
	}
}

// Wake ends a rest of the GUI thread, and delays the next one. It must be called before a function
// is passed to the GUI thread. It does not block.
func Wake() {
	noteEvent()
	if canBeWoken.Load() {
		glfw.PostEmptyEvent()
	}
}

// StayAwake is [Wake] that also prevents rests for some time, while a menu of the tray is open, whose
// clicks do not end a rest. Not every desktop reports that; see [Rest].
func StayAwake(d time.Duration) {
	awakeUntil.Store(int64(time.Since(started) + d))
	Wake()
}

// quiet returns the time since the last event; it is negative while the thread must stay awake.
func quiet() time.Duration {
	return time.Since(started) - time.Duration(max(lastEvent.Load(), awakeUntil.Load()))
}

func noteEvent() {
	lastEvent.Store(int64(time.Since(started)))
	asleep.end()
}

// IsVisible reports whether the system shows a window.
func IsVisible(w fyne.Window) (visible bool) {
	With(w, func(window *glfw.Window) { visible = window.GetAttrib(glfw.Visible) == glfw.True })
	return visible
}
