package store

import (
	"context"
	"slices"
	"sync"

	"gorm.io/gorm"
)

// maxGroup is the number of writes in one commit.
const maxGroup = 256

// writer owns the only connection that writes. A write that gets the connection includes those that
// wait behind it: one commit makes all of them durable. So a hundred concurrent writes take little
// longer than one, because a commit waits for the disk and a statement does not.
type writer struct {
	db   *gorm.DB
	late *callBatch
	lock chan struct{} // holds one token while the connection is free
	// the connection does not wait for the disk now; only the holder of turn may change it
	noSync bool

	mu    sync.Mutex // guards waiting
	queue []*pendingWrite
}

type pendingWrite struct {
	run      func(*gorm.DB) error
	durable  bool
	onEnd    func(error)   // called with the outcome; may be nil
	done     chan struct{} // closed when the fields below are set
	err      error
	panicked any
}

func newWriter(db *gorm.DB) *writer {
	w := &writer{db: db, lock: make(chan struct{}, 1)}
	w.late = newCallBatch(func() { w.flush(context.Background()) }) // the batch learns of an error itself
	w.lock <- struct{}{}
	return w
}

// write runs f in a transaction that others may share; f is applied completely or not at all. It
// may run twice, if the shared commit fails, so all values that it sets must come from its last
// run. A lasting write survives a power failure, any other survives a crash of this program. If ctx
// ends before the write has started, nothing is written. A started write is not cancelled, because
// the driver may report a statement that was cancelled before it ran as done.
func (w *writer) write(ctx context.Context, durable bool, f func(*gorm.DB) error) error {
	c := &pendingWrite{run: f, durable: durable, done: make(chan struct{})}
	w.mu.Lock()
	w.queue = append(w.queue, c)
	w.mu.Unlock()
	for {
		select {
		case <-c.done:
			if c.panicked != nil {
				panic(c.panicked)
			}
			return c.err
		case <-w.lock:
			w.commit(w.nextBatch())
			w.lock <- struct{}{}
		case <-ctx.Done():
			if w.remove(c) {
				return ctx.Err()
			}
			<-c.done
		}
	}
}

// nextBatch removes the next writes from the queue. Delayed calls come first, because they are
// older.
func (w *writer) nextBatch() []*pendingWrite {
	w.mu.Lock()
	n := min(len(w.queue), maxGroup)
	group := make([]*pendingWrite, 0, n+1)
	group = append(group, w.queue[:n]...)
	w.queue = slices.Delete(w.queue, 0, n)
	w.mu.Unlock()
	if late := w.late.nextWrite(); late != nil {
		group = slices.Insert(group, 0, late)
	}
	return group
}

func (w *writer) flush(ctx context.Context) error {
	if w.late.empty() {
		return nil
	}
	select {
	case <-w.lock:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { w.lock <- struct{}{} }()
	group := w.nextBatch()
	w.commit(group)
	if len(group) > 0 && group[0].onEnd != nil {
		return group[0].err
	}
	return nil
}

func (w *writer) remove(c *pendingWrite) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.queue, c)
	if i >= 0 {
		w.queue = slices.Delete(w.queue, i, i+1)
	}
	return i >= 0
}

// commit runs a group. If it cannot be committed as a whole, each write is tried separately, so
// that none fails because of another.
func (w *writer) commit(group []*pendingWrite) {
	if len(group) == 0 {
		return
	}
	defer func() {
		for _, c := range group {
			if c.onEnd != nil {
				c.onEnd(c.err)
			}
			close(c.done)
		}
	}()
	if len(group) > 1 && w.commitTogether(group) {
		return
	}
	for _, c := range group {
		c.err = w.transaction(c.durable, c.attempt)
	}
}

// commitTogether reports whether the whole group was committed. One failure undoes all.
func (w *writer) commitTogether(group []*pendingWrite) bool {
	durable := slices.ContainsFunc(group, func(c *pendingWrite) bool { return c.durable })
	return w.transaction(durable, func(tx *gorm.DB) error {
		for _, c := range group {
			if err := c.attempt(tx); err != nil {
				return err
			}
		}
		return nil
	}) == nil
}

// attempt runs the write. A panic is passed to its caller.
func (c *pendingWrite) attempt(tx *gorm.DB) (err error) {
	defer func() {
		if c.panicked = recover(); c.panicked != nil {
			err = gorm.ErrInvalidTransaction
		}
	}()
	return c.run(tx)
}

func (w *writer) transaction(durable bool, f func(*gorm.DB) error) error {
	if w.noSync == durable {
		mode := "FULL"
		if !durable {
			mode = "NORMAL"
		}
		if err := w.db.Exec("PRAGMA synchronous = " + mode).Error; err != nil {
			return err
		}
		w.noSync = !durable
	}
	err := w.db.Transaction(f)
	if code(err) != 0 {
		// After a failed commit the connection may still be in its transaction; otherwise this does
		// nothing.
		w.db.Exec("ROLLBACK")
	}
	return err
}

// execSQL executes a statement without GORM, whose overhead for a small one is as large as SQLite's
// work.
func execSQL(tx *gorm.DB, statement string, args ...any) error {
	_, err := tx.Statement.ConnPool.ExecContext(context.Background(), statement, args...)
	return err
}
