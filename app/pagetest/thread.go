package pagetest

import (
	"sync"
	"testing"
	"testing/synctest"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// toolkit is the test toolkit with a different GUI thread: the test's own goroutine. Calls from
// other goroutines wait until the test runs them; the original test driver would run them at once,
// concurrently with the test.
type toolkit struct {
	fyne.App
	thread *thread
}

// Driver implements fyne.App.
func (k *toolkit) Driver() fyne.Driver { return k.thread }

type thread struct {
	fyne.Driver
	mu     sync.Mutex // guards the fields below
	queue  []task
	closed bool
}

type task struct {
	do   func()
	done chan struct{}
}

// DoFromGoroutine implements fyne.Driver.
func (g *thread) DoFromGoroutine(f func(), wait bool) {
	t := task{f, make(chan struct{})}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return
	}
	g.queue = append(g.queue, t)
	g.mu.Unlock()
	if wait {
		<-t.done
	}
}

// run runs the waiting calls, and reports whether there were any.
func (g *thread) run() bool {
	g.mu.Lock()
	queue := g.queue
	g.queue = nil
	g.mu.Unlock()
	for _, t := range queue {
		t.do()
		close(t.done)
	}
	return len(queue) > 0
}

// end drops all waiting and future calls.
func (g *thread) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, t := range g.queue {
		close(t.done)
	}
	g.queue = nil
}

// App starts a toolkit that stops with the test. The test is its GUI thread: calls of other
// goroutines have no effect before [Settle].
func App(t testing.TB) fyne.App {
	t.Helper()
	a := test.NewTempApp(t)
	k := &toolkit{App: a, thread: &thread{Driver: a.Driver()}}
	fyne.SetCurrentApp(k)
	t.Cleanup(k.thread.end)
	return k
}

// Settle waits, within a bubble of testing/synctest, until all goroutines have ended or wait for
// time, and runs their calls on the GUI thread.
func Settle() {
	for {
		synctest.Wait()
		if !fyne.CurrentApp().(*toolkit).thread.run() {
			return
		}
	}
}
