package store

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"fairlead/gateway/protocol"
)

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

// find returns the rows of a query.
func find[R any](ctx context.Context, c *conn, doing string, query func(*gorm.DB) *gorm.DB) (rows []R, err error) {
	err = c.read(ctx, doing, func(db *gorm.DB) error { return query(db).Find(&rows).Error })
	return rows, err
}

// findOne returns the first row of a query. If there is none, it fails with protocol.ErrNotFound
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

// convert returns what f makes of each row.
func convert[R, T any](rows []R, f func(R) T) []T {
	list := make([]T, len(rows))
	for i, r := range rows {
		list[i] = f(r)
	}
	return list
}

// upsert stores new rows, or replaces those with the same key.
func upsert(tx *gorm.DB, rows any) error {
	return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(rows).Error
}
