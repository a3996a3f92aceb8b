package native

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const frameTime = time.Second / 60

// toolkit is the toolkit's loop, with a window that is drawn when it is dirty.
type toolkit struct {
	*thread
	queue       chan func()
	events      chan func()
	interrupted chan struct{}
	isDirty     bool // this and the next two belong to the loop
	isAnimated  bool
	isCovered   bool // the system does not ask for frames of the window
	frames      atomic.Int64
	drawn       atomic.Pointer[time.Time] // time of the last frame that was drawn
}

// startToolkit starts a loop whose thread may rest, until the end of the test.
func startToolkit(t *testing.T) *toolkit {
	l := &toolkit{queue: make(chan func(), 100), events: make(chan func(), 100), interrupted: make(chan struct{}, 100)}
	l.thread = &thread{
		wait:        l.wait,
		interrupt:   func() { l.interrupted <- struct{}{} },
		isAnimating: func() bool { return l.isAnimated },
		isDirty:     func() bool { return l.isDirty },
		isHidden:    func() bool { return false },
		lastInput:   time.Now(),
	}
	l.isResting.Store(true)
	end := make(chan struct{})
	go l.run(end)
	t.Cleanup(func() {
		l.stop()
		close(end)
		synctest.Wait()
	})
	return l
}

func (l *toolkit) run(end chan struct{}) {
	tick := time.NewTicker(frameTime)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case f := <-l.queue:
			f()
		case <-tick.C:
			l.poll()
			l.frames.Add(1)
			l.frame(time.Now())
			if l.isDirty && !l.isCovered {
				l.isDirty = false
				l.drawn.Store(new(time.Now()))
			}
		}
	}
}

// poll handles what has arrived, as glfw.PollEvents.
func (l *toolkit) poll() {
	for {
		select {
		case e := <-l.events:
			e()
		case <-l.interrupted:
		default:
			return
		}
	}
}

// wait waits for what arrives, as glfw.WaitEventsTimeout.
func (l *toolkit) wait(d time.Duration) {
	select {
	case e := <-l.events:
		e()
	case <-l.interrupted:
	case <-time.After(d):
	}
	l.poll()
}

func (l *toolkit) pass(f func()) { l.queue <- l.expect(f) }

// countFrames returns the number of frames in a time.
func (l *toolkit) countFrames(d time.Duration) int64 {
	before := l.frames.Load()
	time.Sleep(d)
	synctest.Wait()
	return l.frames.Load() - before
}

func TestThreadSleepsWhenNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startToolkit(t)
		if n := l.countFrames(restAfter - frameTime); n < 55 {
			t.Errorf("frames in the first second: got %d, want all", n)
		}
		time.Sleep(10 * frameTime)
		if n := l.countFrames(10 * restFor); n > 11 {
			t.Errorf("frames in %v of rest: got %d, want one for each rest", 10*restFor, n)
		}
		l.endIdle()
		l.stop()
		if n := l.countFrames(time.Second); n < 55 {
			t.Errorf("frames after the end of rests: got %d, want all", n)
		}
	})
}

func TestFunctionsAndEventsWakeTheThreadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startToolkit(t)
		time.Sleep(3 * time.Second) // in the middle of a rest
		for n := range 200 {
			at := time.Now()
			var ran time.Time
			l.pass(func() { ran, l.isDirty = time.Now(), true })
			time.Sleep(3 * frameTime)
			synctest.Wait()
			drawn := *l.drawn.Load()
			if ran.Sub(at) > frameTime || drawn.Sub(at) > 2*frameTime || drawn.Before(at) {
				t.Fatalf("function %d: it ran after %v, and was drawn after %v; want at most %v and at most %v", n, ran.Sub(at), drawn.Sub(at), frameTime, 2*frameTime)
			}
			time.Sleep(time.Duration(n) * time.Millisecond)
		}
		if n := l.countFrames(10 * time.Second); n > 20 {
			t.Errorf("frames after the functions: got %d, want few", n)
		}
		at := time.Now()
		l.events <- func() { l.isDirty = true }
		if n := l.countFrames(restAfter); n < 55 {
			t.Errorf("frames in the second after an event: got %d, want all", n)
		}
		if after := l.drawn.Load().Sub(at); after > frameTime {
			t.Errorf("an event is drawn after %v, want at most %v", after, frameTime)
		}
	})
}

func TestNoFrameIsLostWhileSomethingMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startToolkit(t)
		time.Sleep(3 * time.Second)
		l.pass(func() { l.isAnimated = true })
		if n := l.countFrames(10 * time.Second); n < 595 {
			t.Errorf("frames in 10 s of an animation: got %d, want all", n)
		}
		l.pass(func() { l.isAnimated = false })
		time.Sleep(time.Second)
		if n := l.countFrames(10 * time.Second); n > 11 {
			t.Errorf("frames after an animation: got %d, want few", n)
		}
		l.pass(func() { l.isDirty, l.isCovered = true, true })
		time.Sleep(2 * time.Second)
		if n := l.countFrames(10 * time.Second); n > 11 {
			t.Errorf("frames while a changed window is covered: got %d, want few", n)
		}
	})
}

func TestProgramIsIdleUntilSomethingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := startToolkit(t)
		idle := func() chan struct{} {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.idle
		}
		if idle() != nil {
			t.Error("idle at the start")
		}
		time.Sleep(3 * time.Second)
		ended := idle()
		l.pass(func() {}) // such as one that shows the time
		time.Sleep(time.Second)
		if ended == nil || idle() != ended {
			t.Fatal("a function that shows the time ends the idle time")
		}
		l.events <- l.noteInput
		<-ended
		if idle() != nil {
			t.Error("idle after an event")
		}
	})
}
