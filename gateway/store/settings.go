package store

import (
	"context"
	"encoding/json"

	"gorm.io/gorm"
)

// Settings are the settings that differ from their default.
type Settings struct{ *conn }

type settingRow struct {
	Key   string `gorm:"primaryKey"`
	Value string
}

func (settingRow) TableName() string { return "settings" }

// All returns every setting that differs from its default.
func (s *Settings) All(ctx context.Context) (map[string]json.RawMessage, error) {
	var rows []settingRow
	if err := s.read(ctx, "read settings", func(db *gorm.DB) error { return db.Find(&rows).Error }); err != nil {
		return nil, err
	}
	all := make(map[string]json.RawMessage, len(rows))
	for _, r := range rows {
		all[r.Key] = json.RawMessage(r.Value)
	}
	return all, nil
}

// Put stores a setting; nil removes it.
func (s *Settings) Put(ctx context.Context, key string, value json.RawMessage) error {
	return s.write(ctx, "store setting", func(tx *gorm.DB) error {
		if value == nil {
			return tx.Where("key = ?", key).Delete(&settingRow{}).Error
		}
		return upsert(tx, &settingRow{key, string(value)})
	})
}
