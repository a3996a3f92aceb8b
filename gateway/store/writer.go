package store

import (
	"context"

	"gorm.io/gorm"
)

// writer owns the only connection that writes: one write at a time, each in a transaction.
type writer struct {
	db   *gorm.DB
	lock chan struct{} // holds one token while the connection is free
	// the connection does not wait for the disk now; only the holder of lock may change it
	noSync bool
}

func newWriter(db *gorm.DB) *writer {
	w := &writer{db: db, lock: make(chan struct{}, 1)}
	w.lock <- struct{}{}
	return w
}

// write runs f in a transaction: it is applied completely or not at all. A durable write survives a
// power failure, any other survives a crash of this program. If ctx ends before the write has
// started, nothing is written. A started write is not cancelled, because the driver may report a
// statement that was cancelled before it ran as done.
func (w *writer) write(ctx context.Context, durable bool, f func(*gorm.DB) error) error {
	select {
	case <-w.lock:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { w.lock <- struct{}{} }()
	if err := w.setSync(durable); err != nil {
		return err
	}
	err := w.db.Transaction(f)
	if code(err) != 0 {
		// After a failed commit the connection may still be in its transaction; otherwise this does
		// nothing.
		w.db.Exec("ROLLBACK")
	}
	return err
}

// setSync sets whether commits wait for the disk.
func (w *writer) setSync(durable bool) error {
	if w.noSync != durable {
		return nil
	}
	mode := "FULL"
	if !durable {
		mode = "NORMAL"
	}
	if err := w.db.Exec("PRAGMA synchronous = " + mode).Error; err != nil {
		return err
	}
	w.noSync = !durable
	return nil
}

// execSQL executes a statement without GORM, whose overhead for a small one is as large as SQLite's
// work.
func execSQL(tx *gorm.DB, statement string, args ...any) error {
	_, err := tx.Statement.ConnPool.ExecContext(context.Background(), statement, args...)
	return err
}
