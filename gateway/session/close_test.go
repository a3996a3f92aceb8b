package session

import (
	"sync"
	"testing"
)

// The race detector finds work that starts while Close waits for all work.
func TestCloseDuringResumeWaitsForNothingNew(t *testing.T) {
	g := start(t)
	for range 50 {
		m := New(g.opts)
		var both sync.WaitGroup
		both.Go(func() { m.Resume(t.Context()) })
		both.Go(m.Close)
		both.Wait()
		m.Close()
	}
}
