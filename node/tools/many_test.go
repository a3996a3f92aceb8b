package tools

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"fairlead/node/access"
	"fairlead/node/tooltest"
)

func TestFiveHundredCallsAtOnceAreServed(t *testing.T) { callAtOnce(t, 500) }

func TestTenThousandCallsAtOnceAreServed(t *testing.T) { callAtOnce(t, 10_000) }

func callAtOnce(t *testing.T, calls int) {
	t.Helper()
	b := newBench(t)
	b.File("f", strings.Repeat("line\n", 1000))
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			if i%100 == 0 { // writes wait for the disk
				if _, err := b.Tools["Write"].Call(t.Context(), access.Call{}, tooltest.Encode(t, tooltest.Args{"path": fmt.Sprintf("d/%d", i%300), "content": "x"})); err != nil {
					t.Error(err)
				}
				return
			}
			if _, err := b.Tools["Read"].Call(t.Context(), access.Call{}, tooltest.Encode(t, tooltest.Args{"path": "f", "offset": i % 1000, "limit": 1})); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
