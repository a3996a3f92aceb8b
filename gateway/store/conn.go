package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"time"

	driver "github.com/glebarez/go-sqlite"
	"github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"fairlead/gateway/protocol"
)

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

// idleTime is how long an unused connection for reading stays open.
const idleTime = time.Minute

func connect(path string, conns int, txlock string, pragmas ...string) (*gorm.DB, error) {
	q := url.Values{"_txlock": {txlock}, "_pragma": append([]string{
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-4000)",
	}, pragmas...)}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: q.Encode()}
	db, err := gorm.Open(sqlite.Open(u.String()), &gorm.Config{Logger: logger.Discard, SkipDefaultTransaction: true, NamingStrategy: naming{}})
	if err != nil {
		return db, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	if conns > 1 {
		pool.SetConnMaxIdleTime(idleTime) // each connection has a cache of up to 4 MB
	}
	return db, nil
}

// naming names tables after their types: questionRow and Question are rows of questions. Types with
// another table say so.
type naming struct{ schema.NamingStrategy }

// TableName implements [schema.Namer].
func (n naming) TableName(row string) string {
	return n.NamingStrategy.TableName(strings.TrimSuffix(row, "Row"))
}

func init() { schema.RegisterSerializer("json", jsonSerializer{}) }

// jsonSerializer stores a field as JSON text. A missing list or map is stored as an empty one.
type jsonSerializer struct{}

func (jsonSerializer) Value(_ context.Context, _ *schema.Field, _ reflect.Value, value any) (any, error) {
	switch v := reflect.ValueOf(value); {
	case v.Kind() == reflect.Slice && v.IsNil():
		return "[]", nil
	case v.Kind() == reflect.Map && v.IsNil():
		return "{}", nil
	}
	raw, err := protocol.Marshal(value)
	return string(raw), err
}

func (jsonSerializer) Scan(ctx context.Context, field *schema.Field, dst reflect.Value, stored any) error {
	text, ok := stored.(string)
	if !ok {
		return fmt.Errorf("decode %s of %s: %T is not text", field.DBName, field.Schema.Table, stored)
	}
	value := reflect.New(field.FieldType)
	if err := json.Unmarshal([]byte(text), value.Interface()); err != nil {
		return fmt.Errorf("decode %s of %s: %w", field.DBName, field.Schema.Table, err)
	}
	field.ReflectValueOf(ctx, dst).Set(value.Elem())
	return nil
}

func find[R any](ctx context.Context, c *conn, doing string, query func(*gorm.DB) *gorm.DB) (rows []R, err error) {
	err = c.read(ctx, doing, func(db *gorm.DB) error { return query(db).Find(&rows).Error })
	return rows, err
}

// findOne returns the first row of a query. Without one, it fails with protocol.ErrNotFound
// and the text missing.
func findOne[R any](ctx context.Context, c *conn, doing, missing string, query func(*gorm.DB) *gorm.DB) (row R, err error) {
	rows, err := find[R](ctx, c, doing, func(db *gorm.DB) *gorm.DB { return query(db).Limit(1) })
	switch {
	case err != nil:
		return row, err
	case len(rows) == 0:
		return row, protocol.ErrNotFound.With(missing)
	}
	return rows[0], nil
}

// findPage returns one page of a query's rows, and the number of rows on all pages. limit -1 means
// all.
func findPage[R any](ctx context.Context, c *conn, doing, order string, offset, limit int, query func(*gorm.DB) *gorm.DB) (rows []R, total int, err error) {
	var n int64
	err = c.read(ctx, doing, func(db *gorm.DB) error {
		q := query(db.Model(new(R)))
		if err := q.Session(&gorm.Session{}).Count(&n).Error; err != nil {
			return err
		}
		return q.Session(&gorm.Session{}).Order(order).Offset(offset).Limit(limit).Find(&rows).Error
	})
	return rows, int(n), err
}

func convert[R, T any](rows []R, f func(R) T) []T {
	list := make([]T, len(rows))
	for i, r := range rows {
		list[i] = f(r)
	}
	return list
}

// page returns the first rows of a query for one more than limit, and whether there was one more.
func page[R any](rows []R, limit int) ([]R, bool) {
	return rows[:min(len(rows), limit)], len(rows) > limit
}

func upsert(tx *gorm.DB, rows any) error {
	return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(rows).Error
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

// Violated constraints: extended codes.
const (
	codeForeignKey = 787
	codePrimaryKey = 1555
	codeUnique     = 2067
)

func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code()
	}
	return 0
}

// explain adds the operation to an error, and converts failures of the disk to a
// protocol.ErrStorage that says how to fix them.
func (c *conn) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	sqlite := code(err)
	_, isPath := errors.AsType[*fs.PathError](err)
	switch sqlite {
	case codeForeignKey:
		return fmt.Errorf("%s: %w", doing, protocol.ErrNotFound.With("its chat does not exist"))
	case codePrimaryKey, codeUnique:
		return fmt.Errorf("%s: %w", doing, protocol.ErrConflict.With("it already exists"))
	}
	text := ""
	switch sqlite & 0xff {
	case codeFull:
		text = c.fullText()
	case codeRead, codeCantOpen, codePerm:
		text = c.path + " cannot be written. Check the permissions of the folder."
	case codeBusy, codeLocked:
		text = "Another program has locked " + c.path + ". Close it and try again."
	case codeIO:
		text = "The disk that holds " + c.path + " reports an error (" + err.Error() + "). Check the disk and copy the data folder to another one."
	case codeCorrupt, codeNotADB:
		text = c.path + " is damaged or not a Fairlead database. Move it away to start again, or restore a backup. Nothing was deleted."
	default:
		if !isPath {
			return fmt.Errorf("%s: %w", doing, err)
		}
		text = fmt.Sprintf("%s cannot be opened (%v). Check the permissions of the folder.", c.path, err)
	}
	// A full disk has other error codes too, when SQLite cannot create a file beside the database.
	if sqlite&0xff != codeNotADB && sqlite&0xff != codeCorrupt && diskFull(filepath.Dir(c.path)) {
		text = c.fullText()
	}
	return fmt.Errorf("%s: %w", doing, protocol.ErrStorage.With(text).WithDetails(map[string]string{"cause": err.Error()}))
}

func (c *conn) fullText() string {
	return "The disk that holds " + c.path + " is full. Free up space. No saved messages were lost."
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
