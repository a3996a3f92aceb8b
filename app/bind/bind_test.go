package bind

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
)

// The test driver has no GUI thread: it runs calls on the calling goroutine, which is sufficient
// for these tests.

func TestWatchShowsTheNewestValueAndSkipsOlderOnes(t *testing.T) {
	test.NewTempApp(t)
	synctest.Test(t, func(t *testing.T) {
		v := feed.NewValue(0)
		ctx, cancel := context.WithCancel(t.Context())
		var shown []int
		Watch(ctx, v, func(n int) { shown = append(shown, n) })
		synctest.Wait()
		for i := range 1000 { // ten per millisecond, for a tenth of a second
			v.Update(func(n *int) { *n = i + 1 })
			if i%10 == 9 {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(shown); n < 2 || n > 4 || shown[n-1] != 1000 {
			t.Errorf("got %v shown, want two to four values and 1000 as the last", shown)
		}
		cancel()
		synctest.Wait()
		v.Update(func(n *int) { *n = -1 })
		synctest.Wait()
		if shown[len(shown)-1] == -1 {
			t.Error("shown after the end")
		}
	})
}

func TestWatchShowsNoStateThatWasReplacedBeforeItCrossed(t *testing.T) {
	test.NewTempApp(t)
	synctest.Test(t, func(t *testing.T) {
		v := feed.NewValue(0)
		var shown []int
		Watch(t.Context(), v, func(n int) { shown = append(shown, n) })
		synctest.Wait() // it has seen 0, and gathers with others before it crosses
		v.Update(func(n *int) { *n = 1 })
		time.Sleep(time.Second)
		synctest.Wait()
		if slices.Contains(shown, 0) || !slices.Contains(shown, 1) {
			t.Errorf("got %v shown, want 1 alone", shown)
		}
	})
}

func TestOnlyTheNewestRequestIsAnswered(t *testing.T) {
	test.NewTempApp(t)
	synctest.Test(t, func(t *testing.T) {
		var newest Newest
		var shown []int
		for i, takes := range []time.Duration{3 * time.Second, 2 * time.Second, time.Second} {
			Go(newest.Context(t.Context()), func(context.Context) (int, error) {
				time.Sleep(takes)
				return i, nil
			}, func(n int, _ error) { shown = append(shown, n) })
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if !slices.Equal(shown, []int{2}) {
			t.Errorf("got the answers of %v, want only that of the newest request, 2", shown)
		}
	})
}

func TestWatchEndsWhileItPauses(t *testing.T) {
	test.NewTempApp(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		Watch(ctx, feed.NewValue(1), func(int) {})
		synctest.Wait()
		began := time.Now()
		cancel()
		synctest.Wait()
		if time.Since(began) != 0 {
			t.Errorf("it ended after %s, want 0", time.Since(began))
		}
	})
}

func TestGoReturnsResultOrErrorWhileTheWindowExists(t *testing.T) {
	test.NewTempApp(t)
	synctest.Test(t, func(t *testing.T) {
		var got atomic.Int64
		Go(t.Context(), func(context.Context) (int, error) { time.Sleep(time.Second); return 7, nil }, func(n int, err error) { got.Store(int64(n)) })
		time.Sleep(time.Second)
		synctest.Wait()
		if got.Load() != 7 {
			t.Errorf("got %d, want 7", got.Load())
		}
		failed := errors.New("no")
		var seen error
		Go(t.Context(), func(context.Context) (int, error) { return 0, failed }, func(_ int, err error) { seen = err })
		synctest.Wait()
		if seen != failed {
			t.Errorf("error: got %v, want %v", seen, failed)
		}
		ctx, cancel := context.WithCancel(t.Context())
		Go(ctx, func(ctx context.Context) (int, error) { <-ctx.Done(); return 1, nil }, func(int, error) { t.Error("called for a window that is gone") })
		cancel()
		synctest.Wait()
	})
}

func TestEveryTicksUntilTheEnd(t *testing.T) {
	test.NewTempApp(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		ticks := 0
		Every(ctx, time.Second, func(time.Time) { ticks++ })
		time.Sleep(3500 * time.Millisecond)
		synctest.Wait()
		cancel()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if ticks != 3 {
			t.Errorf("got %d ticks, want 3", ticks)
		}
	})
}

func TestTicksAreRareWhileNothingHappens(t *testing.T) {
	test.NewTempApp(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex // guards the next two
		var ended chan struct{}
		isHidden := false
		set := func(c chan struct{}, hidden bool) {
			mu.Lock()
			defer mu.Unlock()
			ended, isHidden = c, hidden
		}
		idle := func() (<-chan struct{}, bool) {
			mu.Lock()
			defer mu.Unlock()
			return ended, isHidden
		}
		var ticks atomic.Int64
		every(ctx, 200*time.Millisecond, idle, func(time.Time) { ticks.Add(1) })
		count := func(d time.Duration) int64 {
			before := ticks.Load()
			time.Sleep(d)
			synctest.Wait()
			return ticks.Load() - before
		}
		if n := count(10 * time.Second); n != 50 {
			t.Errorf("ticks in 10 s: got %d, want 50", n)
		}
		set(make(chan struct{}), false)
		count(time.Second)
		if n := count(10 * time.Second); n != 10 {
			t.Errorf("ticks in 10 idle seconds: got %d, want 10", n)
		}
		last := make(chan struct{})
		set(last, true)
		count(time.Second)
		if n := count(10 * time.Second); n != 2 {
			t.Errorf("ticks in 10 hidden seconds: got %d, want 2", n)
		}
		before := ticks.Load()
		for range 20 { // more often than the interval
			now := make(chan struct{})
			set(now, true)
			close(last)
			last = now
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		if n := ticks.Load() - before; n < 8 {
			t.Errorf("ticks in 2 s in which much happens: got %d, want 8 or more", n)
		}
		cancel()
		synctest.Wait()
	})
}

func TestPanicFailsTheWork(t *testing.T) {
	test.NewTempApp(t)
	failed := make(chan error, 1)
	Run(t.Context(), func(context.Context) error { panic("broken") }, func(err error) { failed <- err })
	if err := <-failed; err == nil {
		t.Error("work that panics: got no error")
	}
	Do(t.Context(), func() { panic("broken") })
	v := feed.NewValue(0)
	shown := make(chan int, 2)
	Watch(t.Context(), v, func(n int) {
		shown <- n
		if n == 0 {
			panic("broken")
		}
	})
	<-shown
	v.Update(func(n *int) { *n = 1 })
	if got := <-shown; got != 1 {
		t.Errorf("after a panic it shows %d, want 1", got)
	}
}
