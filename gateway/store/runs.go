package store

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Run is one run of the agent, or a queued message. Params contains no image data; Images are its
// images as stored blocks.
type Run struct {
	ID        protocol.RunID
	Session   protocol.SessionKey     `gorm:"column:session_key"`
	State     string                  // a protocol.Run constant
	Params    protocol.ChatSendParams `gorm:"serializer:json"`
	Images    protocol.Content        `gorm:"serializer:json"`
	Principal string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	StartedAt int64
	EndedAt   int64
	Step      int
	// Answer is the last text that the agent wrote, once the run has ended.
	Answer string
	Error  *protocol.Error `gorm:"serializer:json"`
}

// Runs are the runs of agents, including queued messages.
type Runs struct {
	*conn
	messages *Messages
}

// Put stores a new or changed run. If its session does not exist, it fails with
// protocol.ErrNotFound.
func (s *Runs) Put(ctx context.Context, r Run) error {
	return s.write(ctx, "store run", func(tx *gorm.DB) error { return putRun(tx, r) })
}

func putRun(tx *gorm.DB, r Run) error {
	if err := upsert(tx, &r); err != nil {
		return err
	}
	return addMediaRefs(tx, r.Session, r.Images)
}

// Start stores a run together with the user message that starts it, and returns the message with
// ID and Seq.
func (s *Runs) Start(ctx context.Context, r Run, m protocol.Message) (protocol.Message, error) {
	msgs := []protocol.Message{m}
	err := s.write(ctx, "start run", func(tx *gorm.DB) error {
		if err := s.messages.append(tx, r.Session, msgs); err != nil {
			return err
		}
		return putRun(tx, r)
	})
	if err != nil {
		return protocol.Message{}, err
	}
	return msgs[0], nil
}

// MarkCancelled stores that a run that has not ended was stopped: the next start does not continue it.
func (s *Runs) MarkCancelled(ctx context.Context, id protocol.RunID) error {
	return s.write(ctx, "stop run", func(tx *gorm.DB) error {
		return tx.Model(&Run{}).Where("id = ? AND ended_at = 0", string(id)).Update("state", protocol.RunCancelled).Error
	})
}

// Unfinished returns the runs that have not ended, oldest first.
func (s *Runs) Unfinished(ctx context.Context) ([]Run, error) {
	return find[Run](ctx, s.conn, "list runs", func(db *gorm.DB) *gorm.DB { return db.Where("ended_at = 0").Order("created_at, id") })
}

// Get returns a run, or protocol.ErrNotFound.
func (s *Runs) Get(ctx context.Context, id protocol.RunID) (Run, error) {
	return findOne[Run](ctx, s.conn, "read run", fmt.Sprintf("No run has the id %s", id), func(db *gorm.DB) *gorm.DB { return db.Where("id = ?", id) })
}

// Media are the references of sessions to media files.
type Media struct{ *conn }

type mediaRef struct {
	MediaKey   string              `gorm:"primaryKey"`
	SessionKey protocol.SessionKey `gorm:"primaryKey"`
}

// addMediaRefs records that a session shows the files of some contents.
func addMediaRefs(tx *gorm.DB, key protocol.SessionKey, contents ...protocol.Content) error {
	var refs []mediaRef
	for _, b := range slices.Concat(contents...) {
		if b.MediaKey != "" {
			refs = append(refs, mediaRef{b.MediaKey, key})
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
