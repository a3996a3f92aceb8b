package native

import (
	"context"
	"os/signal"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fyne.io/fyne/v2"
	"github.com/go-gl/glfw/v3.4/glfw"

	"fairlead/gateway/peer/crash"
)

const (
	// restAfter is the time without input after which the GUI thread rests: the toolkit's own timers,
	// such as that of a double click, do not end a rest.
	restAfter = time.Second
	// restFor is the longest rest: what the toolkit itself passes to the GUI thread, such as a change
	// of the system's theme, may be late by this time. Each rest, however long, costs about 60 wake-ups
	// of Go's runtime, which looks for 10 ms whether the thread comes back.
	restFor = time.Second
	// calmFrames is the number of frames without a change before a rest: the toolkit draws a changed
	// window in one frame, and adapts its size or removes a closed one in the next.
	calmFrames = 2
	// maxLate is the number of frames in which a changed window is to be drawn: under Wayland, a window
	// that nobody sees is not drawn.
	maxLate = 60
)

// thread is the GUI thread, which rests while nothing happens. The toolkit looks for events 60 times
// a second, which alone takes 1 to 2 percent of a core.
type thread struct {
	wait        func(time.Duration) // handles the system's next event; ends early after interrupt
	interrupt   func()              // safe for concurrent use
	isAnimating func() bool
	isDirty     func() bool // a shown window is to be drawn
	isHidden    func() bool // no window is visible

	isResting atomic.Bool  // rests are possible
	queued    atomic.Int32 // functions that were passed to the thread and have not run

	lastInput  time.Time // these belong to the thread
	calm, late int       // frames without a change, and with one that is not drawn

	mu           sync.Mutex
	idle         chan struct{} // see [Idle]; nil while not idle
	isIdleHidden bool
}

var gui = &thread{
	wait:        func(d time.Duration) { glfw.WaitEventsTimeout(d.Seconds()) },
	interrupt:   glfw.PostEmptyEvent,
	isAnimating: isAnimating,
	isDirty:     func() bool { return slices.ContainsFunc(fyne.CurrentApp().Driver().AllWindows(), isDirty) },
	isHidden:    func() bool { return !slices.ContainsFunc(fyne.CurrentApp().Driver().AllWindows(), isVisible) },
}

// Rest lets the GUI thread rest while nothing happens, until ctx ends or the program is asked to
// quit. Call it on the GUI thread when the application has started.
func Rest(ctx context.Context) {
	gui.isResting.Store(true)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	crash.WhenDone(ctx, func() {
		stop()
		gui.stop()
	})
	// An animation is called in each frame, after the events and before windows are drawn.
	frames := fyne.NewAnimation(time.Second, func(float32) { gui.frame(time.Now()) })
	frames.RepeatCount = fyne.AnimationRepeatForever
	frames.Start()
}

// Quit ends the toolkit's loop, without another rest. Call it on the GUI thread.
func Quit(a fyne.App) {
	gui.stop()
	a.Quit()
}

// Wake returns f for the GUI thread, and ends a rest. None begins before f has run, so f must be
// passed to the thread. It does not block.
func Wake(f func()) func() {
	gui.endIdle()
	return gui.expect(f)
}

// Interrupt is [Wake] for f that only shows the time: the program stays idle.
func Interrupt(f func()) func() { return gui.expect(f) }

// Idle returns nil, or while nothing happens a channel that is closed at the end of that. isHidden
// reports whether no window is visible then.
func Idle() (ended <-chan struct{}, isHidden bool) {
	gui.mu.Lock()
	defer gui.mu.Unlock()
	return gui.idle, gui.isIdleHidden
}

func (t *thread) expect(f func()) func() {
	t.queued.Add(1)
	if t.isResting.Load() {
		t.interrupt()
	}
	return func() {
		t.queued.Add(-1)
		if t.isResting.Load() {
			t.calm, t.late = 0, 0
		}
		f()
	}
}

// frame rests, if nothing has happened. The toolkit calls it in each frame.
func (t *thread) frame(now time.Time) {
	if !t.isResting.Load() || t.queued.Load() > 0 || now.Sub(t.lastInput) < restAfter || t.isAnimating() {
		t.calm, t.late = 0, 0
		return
	}
	if t.isDirty() && t.late < maxLate {
		t.late++
		t.calm = 0
		return
	}
	if t.calm < calmFrames {
		t.calm++
		return
	}
	t.beginIdle()
	// A function that is passed to the thread from here on interrupts the wait.
	if t.queued.Load() > 0 {
		return
	}
	t.wait(restFor)
	if time.Since(now) < restFor-restFor/20 && t.queued.Load() == 0 {
		t.noteInput() // of the system: no function has interrupted the wait
	}
}

// noteInput delays the next rest. Call it on the GUI thread for each event of a window.
func (t *thread) noteInput() {
	t.lastInput = time.Now()
	t.calm, t.late = 0, 0
	t.endIdle()
}

func (t *thread) stop() {
	if t.isResting.CompareAndSwap(true, false) {
		t.interrupt()
	}
	t.endIdle()
}

func (t *thread) beginIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle == nil {
		t.idle, t.isIdleHidden = make(chan struct{}), t.isHidden()
	}
}

func (t *thread) endIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

// isAnimating reports whether the toolkit runs animations beside that of [Rest] (fyne 2.8.0,
// internal/animation/runner.go).
func isAnimating() bool {
	runner := field(reflect.ValueOf(fyne.CurrentApp().Driver()), "animation").Addr()
	return field(runner, "animations").Len() > 1 || field(runner, "pendingAnimations").Len() > 0
}

// isDirty reports whether the toolkit will draw a window.
func isDirty(w fyne.Window) bool {
	c, ok := w.Canvas().(resizedCanvas)
	if !ok || !field(reflect.ValueOf(w), "visible").Bool() || !c.CheckDirtyAndClear() {
		return false
	}
	c.SetDirty()
	return true
}

// isVisible reports whether the system shows a window.
func isVisible(w fyne.Window) (visible bool) {
	With(w, func(window *glfw.Window) { visible = window.GetAttrib(glfw.Visible) == glfw.True })
	return visible
}
