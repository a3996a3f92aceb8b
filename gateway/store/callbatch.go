package store

import (
	"sync"
	"time"

	"gorm.io/gorm"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// The rows of read-only calls are written in batches, because losing one in a crash loses only the
// record of a read. So is the output of running commands. They are in the database after batchDelay
// at the latest, earlier when batchRows or batchBytes are waiting, with every other write, and
// before anyone reads calls.
const (
	batchDelay = 50 * time.Millisecond
	batchRows  = 512
	batchBytes = 1 << 20
	// maxBatchRows and maxBatchBytes limit the rows that may wait when the disk is too slow.
	// Further calls are written immediately.
	maxBatchRows  = 8 * batchRows
	maxBatchBytes = 16 * batchBytes
	// maxBatchResult is the largest result, in bytes, of a call that is written in a batch.
	maxBatchResult = 64 << 10
	// batchRetryDelay is the pause after a failed write of a batch.
	batchRetryDelay = time.Second
)

// callBatch holds the read-only calls that are not in the database yet.
type callBatch struct {
	write func() // writes the waiting calls

	mu      sync.Mutex // guards the fields below
	calls   []Call     // the latest version of each call, in the order in which they were added
	index   map[protocol.CallID]int
	bytes   int
	timer   *time.Timer // of the next write; nil if none is scheduled
	writing bool
	failed  bool // the last write failed: until one succeeds, callers must learn of the error
	closed  bool
}

func newCallBatch(write func()) *callBatch {
	return &callBatch{write: write, index: make(map[protocol.CallID]int)}
}

// add takes a new or changed call. It returns false if the call must be written immediately. Calls
// with an approval are not worth the risk of a batch, and large ones not worth the memory.
func (b *callBatch) add(c Call) bool {
	isRead := c.Info.Effect == protocol.EffectRead && c.Info.ApprovalID == "" && len(c.ResultJSON) <= maxBatchResult
	if !isRead && !c.isReport() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed || b.closed || len(b.calls) >= maxBatchRows || b.bytes >= maxBatchBytes {
		return false
	}
	b.put(c)
	if len(b.calls) >= batchRows || b.bytes >= batchBytes {
		b.schedule(0)
	} else {
		b.schedule(batchDelay)
	}
	return true
}

// put adds a call or replaces its earlier version. It requires b.mu.
func (b *callBatch) put(c Call) {
	b.bytes += len(c.ResultJSON) + len(c.Info.Args)
	if i, ok := b.index[c.Info.CallID]; ok {
		b.bytes -= len(b.calls[i].ResultJSON) + len(b.calls[i].Info.Args)
		b.calls[i] = c
		return
	}
	b.index[c.Info.CallID] = len(b.calls)
	b.calls = append(b.calls, c)
}

// schedule writes the waiting calls after a delay, unless a write is scheduled already; without a
// delay, it writes them now. It requires b.mu.
func (b *callBatch) schedule(delay time.Duration) {
	switch {
	case b.closed:
	case b.timer == nil:
		b.timer = crash.AfterFunc(delay, func() {
			b.mu.Lock()
			b.timer = nil
			b.mu.Unlock()
			b.write()
		})
	case delay == 0:
		b.timer.Reset(0)
	}
}

// close makes every later call be written immediately.
func (b *callBatch) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.timer != nil {
		b.timer.Stop()
	}
}

// empty reports whether every call is in the database.
func (b *callBatch) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.calls) == 0 && !b.writing
}

// nextWrite returns the write of all waiting calls, or nil. Only one is in progress at a time.
func (b *callBatch) nextWrite() *pendingWrite {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.calls) == 0 {
		return nil
	}
	calls := b.removeAll()
	b.writing = true
	return &pendingWrite{
		run:   func(tx *gorm.DB) error { _, err := upsertCalls(tx, calls); return err },
		done:  make(chan struct{}),
		onEnd: func(err error) { b.endWrite(calls, err) },
	}
}

func (b *callBatch) removeAll() []Call {
	calls := b.calls
	b.calls, b.index, b.bytes = nil, make(map[protocol.CallID]int), 0
	return calls
}

// endWrite handles the end of a write. Calls that could not be written wait again, before those
// that were added meanwhile.
func (b *callBatch) endWrite(calls []Call, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writing, b.failed = false, err != nil
	if err == nil {
		return
	}
	newer := b.removeAll()
	for _, c := range append(calls, newer...) {
		b.put(c)
	}
	b.schedule(batchRetryDelay)
}
