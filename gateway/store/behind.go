package store

import (
	"context"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Calls that only read are stored behind their caller's back: nothing is lost with such a row but the knowledge that something was looked at. They are
// in the database after flushEvery at the latest, sooner when flushRows or flushBytes wait, with every other write, and before anyone reads calls.
const (
	flushEvery = 50 * time.Millisecond
	flushRows  = 256
	flushBytes = 1 << 20
	// maxQueue and maxBytes are what may wait when the disk does not keep up. What comes then is written at once.
	maxQueue = 16 * flushRows
	maxBytes = 16 * flushBytes
	// flushAgain is the pause after a disk has refused.
	flushAgain = time.Second
)

// behind holds the calls that are not written yet, and those of its calls that are under way.
type behind struct {
	wake chan struct{} // holds a token when something waits
	full chan struct{} // holds a token when it should not wait any longer

	mu     sync.Mutex // guards what follows
	calls  map[protocol.CallID]*behindCall
	queue  []*behindCall // to be written, in the order of their first PutCall since the last flush
	bytes  int
	spare  []behindCall // memory for the next flush
	failed bool         // the last flush did not succeed
	closed bool
}

type behindCall struct {
	call    Call
	version int  // counts its changes
	queued  bool // it differs from what the database has
	stored  bool // the database has a row of it
}

func newBehind() *behind {
	return &behind{wake: make(chan struct{}, 1), full: make(chan struct{}, 1), calls: make(map[protocol.CallID]*behindCall)}
}

// may reports whether c need not be written before its caller goes on. What belongs to a question, or is large, is not worth the risk and the memory.
func (c Call) may() bool {
	return c.Info.Effect == protocol.EffectRead && c.Info.ApprovalID == "" && len(c.ResultJSON) <= maxBehind &&
		(c.Info.State == protocol.CallRunning || c.Info.State == protocol.CallWaiting || c.Info.Over())
}

// maxBehind is the largest result of a call that is written later, in bytes.
const maxBehind = 64 << 10

// put takes a call that is new or open. It reports false when the call must be written at once instead.
func (b *behind) put(c Call) bool {
	if !c.may() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.calls[c.Info.CallID]
	if b.failed || b.closed || e != nil && e.call.Info.Over() || e == nil && (len(b.queue) >= maxQueue || b.bytes >= maxBytes) {
		return false
	}
	if e == nil {
		e = &behindCall{}
		b.calls[c.Info.CallID] = e
	} else {
		c.CreatedAt = e.call.CreatedAt
	}
	b.change(e, c)
	return true
}

// finish ends a call. known is false when the database must be asked; won says whether it was open.
func (b *behind) finish(c Call) (won, known bool) {
	if !c.may() {
		return false, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.calls[c.Info.CallID]
	if e == nil || b.failed || b.closed {
		return false, false
	}
	if e.call.Info.Over() {
		return false, true
	}
	now := e.call
	now.Info, now.ResultJSON, now.OutputSHA256, now.OutputBytes, now.Truncated = c.Info, c.ResultJSON, c.OutputSHA256, c.OutputBytes, c.Truncated
	b.change(e, now)
	return true, true
}

// change notes the newest state of a call, with b.mu held.
func (b *behind) change(e *behindCall, c Call) {
	e.call = c
	e.version++
	b.bytes += len(c.ResultJSON) + len(c.Info.Args)
	if !e.queued {
		e.queued = true
		b.queue = append(b.queue, e)
	}
	signal(b.wake)
	if len(b.queue) >= flushRows || b.bytes >= flushBytes {
		signal(b.full)
	}
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// close has everything be written at once from now on.
func (b *behind) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}

// forget drops a call that was written past b.
func (b *behind) forget(id protocol.CallID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.calls[id]; e != nil {
		delete(b.calls, id)
		b.queue = slices.DeleteFunc(b.queue, func(q *behindCall) bool { return q == e })
	}
}

func (b *behind) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) == 0
}

// flush is the write of all that waits, or nil.
func (b *behind) flush() *change {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return nil
	}
	part := b.spare[:0]
	b.spare = nil
	for _, e := range b.queue {
		part = append(part, *e)
	}
	return &change{
		run:  func(tx *gorm.DB) error { return writeCalls(tx, part) },
		done: make(chan struct{}),
		ended: func(err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.failed = err != nil; err == nil {
				b.written(part)
			}
			clear(part)
			if cap(part) <= 2*flushRows {
				b.spare = part
			}
		},
	}
}

// written notes that the database has what part says, with b.mu held.
func (b *behind) written(part []behindCall) {
	for _, p := range part {
		e := b.calls[p.call.Info.CallID]
		if e == nil {
			continue
		}
		e.stored = true
		if e.version != p.version {
			continue
		}
		e.queued = false
		if e.call.Info.Over() {
			delete(b.calls, e.call.Info.CallID)
		}
	}
	b.bytes = 0
	b.queue = slices.DeleteFunc(b.queue, func(e *behindCall) bool {
		if e.queued {
			b.bytes += len(e.call.ResultJSON) + len(e.call.Info.Args)
		}
		return !e.queued
	})
}

// loop writes what waits for too long, until stop is closed.
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
