package resident

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// roomy calls Roomy and undoes it at the end of the test.
func roomy(t *testing.T) {
	t.Helper()
	Roomy()
	t.Cleanup(func() {
		burst.mu.Lock()
		defer burst.mu.Unlock()
		ballast = nil
	})
}

func TestARoomyProgramCollectsLater(t *testing.T) {
	roomy(t)
	first := &ballast[0]
	Roomy()
	if &ballast[0] != first {
		t.Error("asked twice, it has twice the room")
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if garbage := m.NextGC - m.HeapAlloc; garbage < room {
		t.Errorf("garbage is collected when there are %d bytes of it", garbage)
	}
}

func TestABurstOfARoomyProgramCollectsAsItsRest(t *testing.T) {
	roomy(t)
	before := percent()
	done := Ease()
	if got := percent(); got != before {
		t.Errorf("during a burst %d, before %d", got, before)
	}
	done()
}

var sink []byte

func TestMemoryIsGivenBackOnceAfterWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times atomic.Int32
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go Rest(ctx, func() { times.Add(1) })
		work := func(bytes int) {
			for range bytes >> 20 {
				sink = make([]byte, 1<<20)
			}
			time.Sleep(still)
			synctest.Wait()
		}
		work(0)
		work(worth + 4<<20)
		if times.Load() != 0 {
			t.Error("given back during work")
		}
		work(0)
		work(0)
		if times.Load() != 1 {
			t.Errorf("given back %d times after work", times.Load())
		}
		work(worth / 2)
		work(0)
		if times.Load() != 1 {
			t.Error("given back after next to no work")
		}
		work(worth)
		work(0)
		if times.Load() != 2 {
			t.Errorf("given back %d times after work was done again", times.Load())
		}
	})
}
