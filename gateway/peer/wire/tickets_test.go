package wire

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
)

func TestTicketLocksKeepTheOrderOfAKey(t *testing.T) {
	var locks TicketLocks
	var mu sync.Mutex
	got := map[string][]int{}
	var wg sync.WaitGroup
	for i := range 300 {
		key := strconv.Itoa(i % 3)
		ticket := locks.Take(key)
		wg.Go(func() {
			ticket.Wait()
			defer ticket.Release()
			mu.Lock()
			defer mu.Unlock()
			got[key] = append(got[key], i)
		})
	}
	wg.Wait()
	for key, list := range got {
		if len(list) != 100 || !slices.IsSorted(list) {
			t.Errorf("%s: got %v; want 100 numbers in ascending order", key, list)
		}
	}
	if len(locks.last) != 0 {
		t.Errorf("%d keys remain after their last ticket, want none", len(locks.last))
	}
}

func TestTicketLocksDoNotBlockOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var locks TicketLocks
		slow, after, other := locks.Take("a"), locks.Take("a"), locks.Take("b")
		slow.Wait()
		other.Wait() // otherwise the synctest bubble deadlocks
		other.Release()
		ran := false
		go func() {
			after.Wait()
			defer after.Release()
			ran = true
		}()
		synctest.Wait()
		if ran {
			t.Error("the second ticket did not wait for the first")
		}
		slow.Release()
		synctest.Wait()
		if !ran {
			t.Error("the second ticket waits for a released one")
		}
	})
}
