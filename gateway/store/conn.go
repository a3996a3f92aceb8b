package store

import (
	"context"
	"net/url"
	"path/filepath"
	"time"

	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// conn is the access of the table families to the database.
type conn struct {
	path   string
	reader *gorm.DB // a pool of connections
	writer *writer
}

// read runs f on the reading pool; doing describes the operation in errors. When ctx ends, the
// query stops at its next row.
func (c *conn) read(ctx context.Context, doing string, f func(*gorm.DB) error) error {
	err := f(c.reader.WithContext(ctx))
	if ctx.Err() != nil {
		err = ctx.Err() // the driver may report such a query as an empty result
	}
	return c.explain(doing, err)
}

// write runs f durably: the result survives a power failure. See [writer.write].
func (c *conn) write(ctx context.Context, doing string, f func(*gorm.DB) error) error {
	return c.change(ctx, doing, true, f)
}

// change is write; if it need not be durable, it does not wait for the disk.
func (c *conn) change(ctx context.Context, doing string, durable bool, f func(*gorm.DB) error) error {
	err := ctx.Err()
	if err == nil {
		err = c.writer.write(ctx, durable, f)
	}
	return c.explain(doing, err)
}

// connect opens a pool of conns connections. Switching a new file to WAL needs exclusive access,
// and SQLite does not wait for it as it does for other statements: two programs that start together
// try again.
func connect(ctx context.Context, path string, conns int, txlock string, pragmas ...string) (*gorm.DB, error) {
	q := url.Values{"_txlock": {txlock}, "_pragma": append([]string{
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-4000)",
	}, pragmas...)}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: q.Encode()}
	for try := 1; ; try++ {
		db, err := gorm.Open(sqlite.Open(u.String()), &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true})
		if err == nil {
			pool, err := db.DB()
			if err != nil {
				return nil, err
			}
			pool.SetMaxOpenConns(conns)
			pool.SetMaxIdleConns(conns)
			return db, nil
		}
		if db != nil {
			if pool, err := db.DB(); err == nil {
				pool.Close()
			}
		}
		if code(err)&0xff != codeBusy || try == 50 {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(try) * 4 * time.Millisecond): // 5 s in total
		}
	}
}
