package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Media are the references of sessions to media files.
type Media struct{ *conn }

type mediaRef struct {
	MediaKey   string              `gorm:"primaryKey"`
	SessionKey protocol.SessionKey `gorm:"primaryKey"`
}

func (mediaRef) TableName() string { return "media_refs" }

// addMediaRefs records that a session shows the files of some contents.
func addMediaRefs(tx *gorm.DB, key protocol.SessionKey, contents ...protocol.Content) error {
	var refs []mediaRef
	for _, c := range contents {
		for _, b := range c {
			if b.MediaKey != "" {
				refs = append(refs, mediaRef{b.MediaKey, key})
			}
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return tx.Clauses(clause.OnConflict{DoNothing: true}).CreateInBatches(&refs, 100).Error
}

// Unreferenced returns those of the given media files that no session shows.
func (s *Media) Unreferenced(ctx context.Context, media []string) (list []string, err error) {
	if len(media) == 0 {
		return nil, nil
	}
	raw, err := protocol.Marshal(media)
	if err != nil {
		return nil, err
	}
	err = s.read(ctx, "find unused media", func(db *gorm.DB) error {
		return db.Raw("SELECT value FROM json_each(?) WHERE value NOT IN (SELECT media_key FROM media_refs)", string(raw)).Scan(&list).Error
	})
	return list, err
}
