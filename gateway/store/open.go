package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	driver "github.com/glebarez/go-sqlite"
	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"fairlead/gateway/protocol"
)

// Store is an open database. It is safe for concurrent use. Every method may block on the disk.
type Store struct {
	path string
	// patience is the time after which a search returns its results so far; 0 means no limit.
	patience  time.Duration
	markEvery int // see the constant
	unmarked  int // number of texts since the last mark; used by the writer only
	// the one connection that writes; used by the writer only once the store is open
	w        *gorm.DB
	r        *gorm.DB // a pool that reads
	out      *writer
	stop     chan struct{} // closed by Close
	once     sync.Once
	wg       sync.WaitGroup
	promised promises
}

// Open opens the database file at path, and creates it if it is missing, readable by its owner only.
// A file that is not a database, or of another version, is not changed and returns an error.
func Open(ctx context.Context, path string) (*Store, error) {
	s := &Store{path: path, stop: make(chan struct{}), markEvery: markEvery}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, s.explain("open store", err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	// SQLite gives its -wal and -shm files the same mode
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if s.w, err = connect(ctx, s.path, 1, "immediate"); err != nil {
		return err
	}
	if err := createSchema(ctx, s.w, s.path); err != nil {
		return err
	}
	s.out = newWriter(s.w)
	if s.r, err = connect(ctx, s.path, max(2, runtime.NumCPU()), "deferred", "query_only(1)"); err != nil {
		return err
	}
	var size int64
	if err := s.w.Raw("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&size).Error; err != nil {
		return err
	}
	if size > large {
		s.SetPatience(patience)
		s.wg.Go(func() { s.markAll(context.Background()) })
	}
	s.wg.Go(func() { s.out.late.loop(s.out, s.stop) })
	return nil
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

// Close writes delayed calls, and closes the database. All other acknowledged data is on the disk
// already. It may be called twice.
func (s *Store) Close() error {
	var errs []error
	s.once.Do(func() { close(s.stop) })
	s.wg.Wait()
	if s.out != nil {
		s.out.late.close()
		errs = append(errs, s.explain("store the last calls", s.out.settle(context.Background())))
	}
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

// read runs f on the reading pool; doing describes the operation in errors. When ctx ends, the
// query stops at its next row.
func (s *Store) read(ctx context.Context, doing string, f func(*gorm.DB) error) error {
	err := f(s.r.WithContext(ctx))
	if ctx.Err() != nil {
		err = ctx.Err() // the driver may report such a query as an empty result
	}
	return s.explain(doing, err)
}

// write runs f durably: the result survives a power failure. See [writer.write].
func (s *Store) write(ctx context.Context, doing string, f func(*gorm.DB) error) error {
	return s.change(ctx, doing, true, f)
}

func (s *Store) change(ctx context.Context, doing string, lasting bool, f func(*gorm.DB) error) error {
	err := ctx.Err()
	if err == nil {
		err = s.out.write(ctx, lasting, f)
	}
	return s.explain(doing, err)
}

// Result codes of SQLite (sqlite.org/rescode.html): primary codes for problems of the disk or the
// file, not of the query.
const (
	codePerm     = 3
	codeBusy     = 5
	codeLocked   = 6
	codeRead     = 8
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

// Violated constraints: the primary code and extended ones.
const (
	codeConstraint = 19
	codeForeignKey = 787
	codePrimaryKey = 1555
	codeUnique     = 2067
)

// code returns the extended result code of SQLite in err, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code()
	}
	return 0
}

// explain adds the operation to an error, and converts failures of the disk to a
// protocol.ErrStorage that says how to fix them.
func (s *Store) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	c := code(err)
	_, isPath := errors.AsType[*fs.PathError](err)
	switch c {
	case codeForeignKey:
		return fmt.Errorf("%s: %w", doing, protocol.ErrNotFound.With("its chat does not exist, or no longer"))
	case codePrimaryKey, codeUnique:
		return fmt.Errorf("%s: %w", doing, protocol.ErrConflict.With("it is stored already"))
	}
	text := ""
	switch c & 0xff {
	case codeFull:
		text = s.fullText()
	case codeRead, codeCantOpen, codePerm:
		text = s.path + " cannot be written. Check the folder's permissions."
	case codeBusy, codeLocked:
		text = "Another program keeps " + s.path + " locked. Close it and try again."
	case codeIO:
		text = "The disk that holds " + s.path + " reports an error (" + err.Error() + "). Check the disk; make a copy of the data folder."
	case codeCorrupt, codeNotADB:
		text = s.path + " is damaged or not a Fairlead database. Move it away to start afresh, or put a backup in its place; nothing was deleted."
	default:
		if !isPath {
			return fmt.Errorf("%s: %w", doing, err)
		}
		text = fmt.Sprintf("%s cannot be opened (%v). Check the folder's permissions.", s.path, err)
	}
	// A full disk has other error codes too, when SQLite cannot create a file beside the database.
	if c&0xff != codeNotADB && c&0xff != codeCorrupt && diskFull(filepath.Dir(s.path)) {
		text = s.fullText()
	}
	return fmt.Errorf("%s: %w", doing, protocol.ErrStorage.With(text).WithDetails(map[string]string{"cause": err.Error()}))
}

func (s *Store) fullText() string {
	return "The disk that holds " + s.path + " is full. Free some space; nothing that was confirmed is lost."
}

// diskFull reports whether no more data can be written to dir.
func diskFull(dir string) bool {
	f, err := os.CreateTemp(dir, ".space-*")
	if err == nil {
		_, err = f.Write(make([]byte, 64<<10))
		f.Close()
		os.Remove(f.Name())
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
