package bind

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
)

// counted returns a context whose watchers and clocks cross together, and the number of crossings.
func counted(t *testing.T) (context.Context, *atomic.Int64) {
	t.Helper()
	test.NewTempApp(t)
	ctx, n := Together(t.Context()), new(atomic.Int64)
	crossingOf(ctx).cross = func(f func(), isClock bool) {
		n.Add(1)
		cross(f, isClock)
	}
	return ctx, n
}

// change changes a value at an interval, for a time.
func change(v *feed.Value[int], every, during time.Duration) {
	for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(every) {
		v.Update(func(n *int) { *n++ })
	}
	synctest.Wait()
}

func TestWatchersOfOneChangeCrossTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, crossings := counted(t)
		ctx, cancel := context.WithCancel(ctx)
		v := feed.NewValue(0)
		var shown [8]atomic.Int64
		for i := range shown {
			Watch(ctx, v, func(n int) { shown[i].Store(int64(n)) })
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := crossings.Swap(0); n != 1 {
			t.Errorf("crossings of 8 watchers for the first state: got %d, want 1", n)
		}
		change(v, time.Second/33, 10*time.Second)
		time.Sleep(time.Second)
		synctest.Wait()
		if n := crossings.Load(); n < 50 || n > 70 {
			t.Errorf("crossings in 10 s of 33 changes a second, for 8 watchers: got %d, want 50 to 70", n)
		}
		for i := range shown {
			if got, want := shown[i].Load(), int64(v.Get()); got != want {
				t.Errorf("watcher %d: got state %d, want %d", i, got, want)
			}
		}
		cancel()
		synctest.Wait()
	})
}

func TestFirstStatesAfterPauseComeSooner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, crossings := counted(t)
		ctx, cancel := context.WithCancel(ctx)
		v := feed.NewValue(0)
		Watch(ctx, v, func(int) {})
		for range 2 {
			time.Sleep(time.Second)
			crossings.Store(0)
			change(v, time.Second/33, 300*time.Millisecond)
			if n := crossings.Load(); n < 4 {
				t.Errorf("crossings in the first 300 ms: got %d, want 4 or more", n)
			}
		}
		cancel()
		synctest.Wait()
	})
}

func TestClockCrossesWithStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, crossings := counted(t)
		ctx, cancel := context.WithCancel(ctx)
		v := feed.NewValue(0)
		Watch(ctx, v, func(int) {})
		idle := func() (<-chan struct{}, bool) { return nil, false }
		var ticks atomic.Int64
		every(ctx, 200*time.Millisecond, idle, func(time.Time) { ticks.Add(1) })
		change(v, time.Second/33, 10*time.Second)
		if ticks.Load() < 25 || crossings.Load() > 75 {
			t.Errorf("in 10 s of changes: got %d ticks and %d crossings, want 25 or more and 75 or fewer", ticks.Load(), crossings.Load())
		}
		cancel()
		synctest.Wait()
	})
}

func TestClockDelaysNoState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, _ := counted(t)
		ctx, cancel := context.WithCancel(ctx)
		v := feed.NewValue(time.Time{})
		var late time.Duration
		Watch(ctx, v, func(at time.Time) {
			if !at.IsZero() {
				late = max(late, time.Since(at))
			}
		})
		idle := func() (<-chan struct{}, bool) { return nil, false }
		every(ctx, 200*time.Millisecond, idle, func(time.Time) {})
		for range 20 {
			time.Sleep(930 * time.Millisecond)
			v.Update(func(at *time.Time) { *at = time.Now() })
		}
		synctest.Wait()
		if late > gatherTime {
			t.Errorf("a state beside a clock was shown after %s, want at most %s", late, gatherTime)
		}
		cancel()
		synctest.Wait()
	})
}

func TestEndOfOneWatcherDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, _ := counted(t)
		ctx, cancel := context.WithCancel(ctx)
		first, end := context.WithCancel(ctx)
		v := feed.NewValue(0)
		Watch(first, v, func(int) { t.Error("a watcher that ended was called") })
		synctest.Wait() // it waits for others
		var shown atomic.Bool
		Watch(ctx, v, func(int) { shown.Store(true) })
		synctest.Wait()
		end()
		synctest.Wait()
		if !shown.Load() {
			t.Error("the other watcher was not called")
		}
		cancel()
		synctest.Wait()
	})
}
