package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	driver "github.com/glebarez/go-sqlite"
	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"fairlead/gateway/protocol"
)

// Store is an open database. It is safe for use by many goroutines. Every method may block on the disk.
type Store struct {
	path string
	w    *gorm.DB // the one connection that writes
	r    *gorm.DB // a pool that reads
}

// Open opens the database file at path, makes it when it is missing, and brings it up to date. A file that is not a database, or that a
// newer Fairlead wrote, is left as it is and reported.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{path: path}
	var err error
	if s.w, err = connect(path, "immediate", 1); err != nil {
		return nil, s.explain("open store", err)
	}
	if err := migrate(ctx, s.w); err != nil {
		s.Close()
		return nil, s.explain("open store", err)
	}
	if s.r, err = connect(path, "deferred", max(2, runtime.NumCPU())); err != nil {
		s.Close()
		return nil, s.explain("open store", err)
	}
	return s, nil
}

func connect(path, txlock string, conns int) (*gorm.DB, error) {
	q := url.Values{"_txlock": {txlock}, "_pragma": {
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-4000)",
	}}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: q.Encode()}
	db, err := gorm.Open(sqlite.Open(u.String()), &gorm.Config{
		Logger: logger.Discard, SkipDefaultTransaction: true, TranslateError: false,
	})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return db, nil
}

// Close closes the database. What was acknowledged is on the disk already.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*gorm.DB{s.r, s.w} {
		if db == nil {
			continue
		}
		pool, err := db.DB()
		if err == nil {
			err = pool.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Primary result codes of SQLite that mean the disk or the file, not the query (sqlite.org/rescode.html).
const (
	codeBusy    = 5
	codeLocked  = 6
	codeRead    = 8
	codeIO      = 10
	codeCorrupt = 11
	codeFull    = 13
	codeCantRun = 14
	codeNotADB  = 26
)

// explain adds what was done, and turns failures of the disk into a protocol.ErrStorage that says what to do.
func (s *Store) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	var e *driver.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	text := ""
	switch e.Code() & 0xff {
	case codeFull:
		text = "The disk that holds " + s.path + " is full. Free some space; nothing that was confirmed is lost."
	case codeRead, codeCantRun:
		text = s.path + " cannot be written. Check the folder's permissions."
	case codeBusy, codeLocked:
		text = "Another program keeps " + s.path + " locked. Close it and try again."
	case codeIO:
		text = "The disk that holds " + s.path + " reports an error (" + err.Error() + "). Check the disk; make a copy of the data folder."
	case codeCorrupt, codeNotADB:
		text = s.path + " is damaged or not a Fairlead database. Move it away to start afresh, or put a backup in its place; it was not changed."
	default:
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, protocol.ErrStorage.With(text))
}
