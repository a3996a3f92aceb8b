package servers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fairlead/gateway/peer/wake"
)

// Pauses between two readings of a server's lists after its notifications. The pause doubles each
// time that nothing has changed.
const (
	refreshMin = time.Second
	refreshMax = 5 * time.Minute
)

// stale are the lists that the server has announced as changed, and that were not read since. It is
// safe for concurrent use.
type stale struct {
	wake wake.Signal // there are some

	mu           sync.Mutex // guards the fields below
	tools, items bool
}

// mark marks the tools, or the resources and prompts.
func (l *stale) mark(tools, items bool) {
	l.mu.Lock()
	l.tools, l.items = l.tools || tools, l.items || items
	l.mu.Unlock()
	l.wake.Send()
}

// take returns what is marked, and removes the marks.
func (l *stale) take() (tools, items bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tools, items = l.tools, l.items
	l.tools, l.items = false, false
	return tools, items
}

// followLists reads lists again after the server's notifications, one at a time, until ctx ends. A
// server that announces a change after each reading is read less and less often.
func (s *server) followLists(ctx context.Context) {
	pause := refreshMin
	var last time.Time
	for {
		select {
		case <-s.stale.wake:
		case <-ctx.Done():
			return
		}
		if wait := pause - time.Since(last); wait > 0 {
			waitFor(ctx, wait, nil)
		} else {
			pause = refreshMin // it was quiet
		}
		if ctx.Err() != nil {
			return
		}
		if s.readStale(ctx) {
			pause = refreshMin
			s.m.publish()
		} else {
			pause = min(pause*2, refreshMax)
		}
		last = time.Now()
	}
}

// readStale reads the marked lists, and reports whether they have changed.
func (s *server) readStale(ctx context.Context) bool {
	before := s.lists()
	tools, items := s.stale.take()
	if tools {
		if err := s.refresh(ctx); err != nil && ctx.Err() == nil {
			s.log.addf("Reading a list failed: %v", err)
		}
	}
	if items {
		if err := s.countItems(ctx); err != nil && ctx.Err() == nil {
			s.log.addf("Reading a list failed: %v", err)
		}
	}
	return before != s.lists()
}

// lists identifies the present tools, and the number of resources and prompts.
func (s *server) lists() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprint(s.counts)
	for _, t := range s.tools {
		id += t.hash
	}
	return id
}
