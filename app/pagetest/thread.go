package pagetest

import (
	"sync"
	"testing"
	"testing/synctest"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// toolkit is the test toolkit, but for its GUI thread: that is the test. What other goroutines want done there waits until the test lets it come,
// while the test driver would do it at once, beside the test.
type toolkit struct {
	fyne.App
	thread *thread
}

// Driver implements fyne.App.
func (k *toolkit) Driver() fyne.Driver { return k.thread }

type thread struct {
	fyne.Driver
	mu    sync.Mutex // guards what follows
	queue []task
	over  bool
}

type task struct {
	do   func()
	done chan struct{}
}

// DoFromGoroutine implements fyne.Driver.
func (g *thread) DoFromGoroutine(f func(), wait bool) {
	t := task{f, make(chan struct{})}
	g.mu.Lock()
	if g.over {
		g.mu.Unlock()
		return
	}
	g.queue = append(g.queue, t)
	g.mu.Unlock()
	if wait {
		<-t.done
	}
}

// run does what waits, and reports whether there was anything.
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

// end drops what waits, and all that still comes.
func (g *thread) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	for _, t := range g.queue {
		close(t.done)
	}
	g.queue = nil
}

// App begins a toolkit that ends with the test. The test is its GUI thread: without [Settle], nothing of other goroutines shows.
func App(t testing.TB) fyne.App {
	t.Helper()
	a := test.NewTempApp(t)
	k := &toolkit{App: a, thread: &thread{Driver: a.Driver()}}
	fyne.SetCurrentApp(k)
	t.Cleanup(k.thread.end)
	return k
}

// Settle waits, within a bubble of testing/synctest, until all that was begun has ended or waits for time, and lets what that wants done on the GUI
// thread come.
func Settle() {
	for {
		synctest.Wait()
		if !fyne.CurrentApp().(*toolkit).thread.run() {
			return
		}
	}
}
