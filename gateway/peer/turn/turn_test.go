package turn

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
)

func TestOneKeyKeepsItsOrder(t *testing.T) {
	var q Queue
	var mu sync.Mutex
	got := map[string][]int{}
	var wg sync.WaitGroup
	for i := range 300 {
		key := strconv.Itoa(i % 3)
		turn := q.Take(key)
		wg.Go(func() {
			turn.Wait()
			defer turn.End()
			mu.Lock()
			defer mu.Unlock()
			got[key] = append(got[key], i)
		})
	}
	wg.Wait()
	for key, list := range got {
		if len(list) != 100 || !slices.IsSorted(list) {
			t.Errorf("%s: %v", key, list)
		}
	}
	if len(q.last) != 0 {
		t.Errorf("%d keys are kept after their last turn", len(q.last))
	}
}

func TestOneKeyHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Queue
		slow, after, other := q.Take("a"), q.Take("a"), q.Take("b")
		slow.Wait()
		other.Wait() // otherwise the synctest bubble deadlocks
		other.End()
		came := false
		go func() {
			after.Wait()
			defer after.End()
			came = true
		}()
		synctest.Wait()
		if came {
			t.Error("the second turn of a key came before the end of the first")
		}
		slow.End()
		synctest.Wait()
		if !came {
			t.Error("the second turn of a key did not come")
		}
	})
}
