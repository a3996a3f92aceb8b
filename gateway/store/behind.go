package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Read-only calls are written later, in batches: if such a row is lost, only the record of a read
// is lost. They are in the database after flushEvery at the latest, earlier when flushRows or
// flushBytes are waiting, with every other write, and before anyone reads calls.
const (
	flushEvery = 50 * time.Millisecond
	flushRows  = 1024
	flushBytes = 1 << 20
	// maxQueue and maxBytes limit the calls that may wait when the disk is too slow. Further calls
	// are written immediately.
	maxQueue = 4 * flushRows
	maxBytes = 16 * flushBytes
	// flushAgain is the pause after a failed flush.
	flushAgain = time.Second
)

// behind holds the read-only calls that are not written yet, and those of them that are in
// progress. A flush takes them all by taking their map, so that a caller who starts or ends a call
// meanwhile waits only for that, and not for a scan of a thousand others.
type behind struct {
	wake chan struct{} // holds a token when something waits
	full chan struct{} // holds a token when it should be written now

	mu    sync.Mutex // guards the fields below
	calls map[protocol.CallID]*behindCall
	// nil unless a flush is in progress: the calls at its start, which change only in calls
	taken map[protocol.CallID]*behindCall
	// to be written, in the order of their first PutCall since the last flush
	queue  []*behindCall
	bytes  int           // of queue
	spare  []*behindCall // memory for the next calls
	failed bool          // the last flush failed
	closed bool

	// Memory of the flush; no other code uses it.
	upserts    upserts
	spareCalls map[protocol.CallID]*behindCall
	spareQueue []*behindCall
}

// behindCall is the latest version of a call; it does not change once a flush has taken it.
type behindCall struct {
	call   Call
	queued bool // it differs from the database
	stored bool // the database has a row for it
	gone   bool // it was written separately after a flush had taken it
}

func newBehind() *behind {
	return &behind{wake: make(chan struct{}, 1), full: make(chan struct{}, 1), calls: make(map[protocol.CallID]*behindCall)}
}

// may reports whether c may be written later. Calls with an approval are not worth the risk, and
// large ones not worth the memory.
func (c Call) may() bool {
	return c.Info.Effect == protocol.EffectRead && c.Info.ApprovalID == "" && len(c.ResultJSON) <= maxBehind &&
		(c.Info.State == protocol.CallRunning || c.Info.State == protocol.CallWaiting || c.Info.Over())
}

// maxBehind is the largest result, in bytes, of a call that is written later.
const maxBehind = 64 << 10

// put takes a new or open call. It returns false if the call must be written immediately.
func (b *behind) put(c Call) bool {
	if !c.may() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.find(c.Info.CallID)
	if b.failed || b.closed || e != nil && e.call.Info.Over() || e == nil && (len(b.queue) >= maxQueue || b.bytes >= maxBytes) {
		return false
	}
	now := b.open(e, c.Info.CallID)
	if e != nil {
		c.CreatedAt = e.call.CreatedAt
	}
	now.call = c
	b.changed(now)
	return true
}

// finish ends a call. known is false if the database must be queried; won reports whether the call
// was open.
func (b *behind) finish(c Call) (won, known bool) {
	if !c.may() {
		return false, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.find(c.Info.CallID)
	if e == nil || b.failed || b.closed {
		return false, false
	}
	if e.call.Info.Over() {
		return false, true
	}
	now := b.open(e, c.Info.CallID)
	now.call.Info, now.call.ResultJSON, now.call.OutputSHA256, now.call.OutputBytes, now.call.Truncated = c.Info, c.ResultJSON, c.OutputSHA256, c.OutputBytes, c.Truncated
	b.changed(now)
	return true, true
}

// find returns the latest version of a call, or nil. The caller holds b.mu.
func (b *behind) find(id protocol.CallID) *behindCall {
	if e := b.calls[id]; e != nil {
		return e
	}
	if e := b.taken[id]; e != nil && !e.gone {
		return e
	}
	return nil
}

// open returns a version of the found call that may be changed. The caller holds b.mu.
func (b *behind) open(e *behindCall, id protocol.CallID) *behindCall {
	now := b.calls[id]
	if now == nil {
		if n := len(b.spare); n > 0 {
			now, b.spare = b.spare[n-1], b.spare[:n-1]
		} else {
			now = new(behindCall)
		}
		if e != nil { // a flush has taken it
			*now = behindCall{call: e.call, stored: e.stored}
		}
		b.calls[id] = now
	}
	return now
}

// changed queues a call for writing. The caller holds b.mu.
func (b *behind) changed(e *behindCall) {
	b.bytes += e.size()
	if !e.queued {
		e.queued = true
		b.queue = append(b.queue, e)
	}
	signal(b.wake)
	if len(b.queue) >= flushRows || b.bytes >= flushBytes {
		signal(b.full)
	}
}

// size returns the number of bytes of a call beyond the fixed ones.
func (e *behindCall) size() int { return len(e.call.ResultJSON) + len(e.call.Info.Args) }

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// close makes every later call be written immediately.
func (b *behind) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}

// forget removes a call that was written separately.
func (b *behind) forget(id protocol.CallID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.taken[id]; e != nil {
		e.gone = true
	}
	if e := b.calls[id]; e != nil {
		delete(b.calls, id)
		b.queue = slices.DeleteFunc(b.queue, func(q *behindCall) bool { return q == e })
	}
}

func (b *behind) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) == 0 && b.taken == nil
}

// flush returns the write of all waiting calls, or nil. Only one is in progress at a time.
func (b *behind) flush() *change {
	if b.spareCalls == nil {
		b.spareCalls = make(map[protocol.CallID]*behindCall)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return nil
	}
	list := b.queue
	b.taken, b.calls, b.spareCalls = b.calls, b.spareCalls, nil
	b.queue, b.spareQueue, b.bytes = b.spareQueue, nil, 0
	return &change{
		run:   func(tx *gorm.DB) error { return b.upserts.write(tx, list) },
		done:  make(chan struct{}),
		ended: func(err error) { b.flushed(list, err) },
	}
}

// flushed handles the end of the flush of list.
func (b *behind) flushed(list []*behindCall, err error) {
	var open []*behindCall
	for _, e := range b.taken { // nobody changes taken calls
		if !e.call.Info.Over() {
			open = append(open, e)
		}
	}
	b.mu.Lock()
	taken := b.taken
	b.taken, b.failed = nil, err != nil
	if err != nil {
		b.again(taken, list)
		b.mu.Unlock()
		return
	}
	for _, e := range open {
		if now := b.calls[e.call.Info.CallID]; now != nil {
			now.stored = true
		} else if !e.gone {
			e.queued, e.stored = false, true
			b.calls[e.call.Info.CallID] = e
		}
	}
	b.mu.Unlock()
	if len(taken) > 2*flushRows {
		return
	}
	clear(taken)
	b.spareCalls, b.spareQueue = taken, b.recycle(list)
}

// recycle retains the memory of the finished calls in list, and returns list as the memory of a
// queue.
func (b *behind) recycle(list []*behindCall) []*behindCall {
	over := list[:0]
	for _, e := range list {
		if e.call.Info.Over() {
			*e = behindCall{}
			over = append(over, e)
		}
	}
	b.mu.Lock()
	b.spare = append(b.spare, over[:min(len(over), flushRows-len(b.spare))]...)
	b.mu.Unlock()
	clear(list)
	return list[:0]
}

// again queues the calls of a failed flush again. The caller holds b.mu.
func (b *behind) again(taken map[protocol.CallID]*behindCall, list []*behindCall) {
	for id, e := range taken {
		if b.calls[id] == nil && !e.gone {
			b.calls[id] = e
		}
	}
	list = slices.DeleteFunc(list, func(e *behindCall) bool { return b.calls[e.call.Info.CallID] != e })
	for _, e := range list {
		b.bytes += e.size()
	}
	b.queue = append(list, b.queue...)
}

// loop writes waiting calls when they are due, until stop is closed.
func (b *behind) loop(w *writer, stop <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		select {
		case <-stop:
			return
		case <-b.wake:
		}
		timer.Reset(flushEvery)
		select {
		case <-stop:
			return
		case <-b.full:
			timer.Stop()
		case <-timer.C:
		}
		if w.settle(context.Background()) == nil {
			continue
		}
		signal(b.wake)
		timer.Reset(flushAgain)
		select {
		case <-stop:
			return
		case <-timer.C:
		}
	}
}
