package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// Outbound is a message to be delivered to a channel. ID makes it unique: a message that is stored
// twice is sent once.
type Outbound struct {
	Seq       int64 `gorm:"primaryKey"`
	ID        string
	State     string
	Attempts  int
	NextAt    int64
	CreatedAt int64  `gorm:"autoCreateTime:false"`
	MessageID string // the channel's ID of the message, if reported
	Error     string
	Event     protocol.ChannelOutbound `gorm:"column:json;serializer:json"`
}

// Outbox is the queue of messages to channels.
type Outbox struct{ *conn }

type outboxRow struct {
	Outbound
	Channel string
	Account string
}

func (outboxRow) TableName() string { return "channel_outbox" }

// Put adds a message to the outbox. If it is there already, added is false.
func (s *Outbox) Put(ctx context.Context, o Outbound) (added bool, err error) {
	o.State = OutboxWaiting
	row := outboxRow{o, o.Event.Channel, o.Event.AccountID}
	err = s.write(ctx, "store message to a channel", func(tx *gorm.DB) error {
		row.Seq = 0
		res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		added = res.RowsAffected > 0
		return res.Error
	})
	return added, err
}

// Next returns the oldest waiting message of an account, or protocol.ErrNotFound.
func (s *Outbox) Next(ctx context.Context, channel, account string) (Outbound, error) {
	row, err := findOne[outboxRow](ctx, s.conn, "read messages to a channel", "No message is waiting.", func(db *gorm.DB) *gorm.DB {
		return db.Where("channel = ? AND account = ? AND state = ?", channel, account, OutboxWaiting).Order("seq")
	})
	return row.Outbound, err
}

// Get returns one message by its ID, or protocol.ErrNotFound.
func (s *Outbox) Get(ctx context.Context, id string) (Outbound, error) {
	row, err := findOne[outboxRow](ctx, s.conn, "read message to a channel", "There is no such message.", func(db *gorm.DB) *gorm.DB { return db.Where("id = ?", id) })
	return row.Outbound, err
}

// CountWaiting returns the number of waiting messages, by CHANNEL:ACCOUNT.
func (s *Outbox) CountWaiting(ctx context.Context) (map[string]int, error) {
	var rows []struct {
		Channel, Account string
		N                int
	}
	err := s.read(ctx, "count messages to channels", func(db *gorm.DB) error {
		return db.Model(&outboxRow{}).Select("channel, account, count(*) AS n").Where("state = ?", OutboxWaiting).Group("channel, account").Find(&rows).Error
	})
	count := make(map[string]int, len(rows))
	for _, r := range rows {
		count[r.Channel+":"+r.Account] = r.N
	}
	return count, err
}

// SetState stores the delivery state of a message, unless its delivery has ended already.
func (s *Outbox) SetState(ctx context.Context, o Outbound) error {
	return s.write(ctx, "store state of a message to a channel", func(tx *gorm.DB) error {
		return tx.Model(&outboxRow{}).Where("seq = ? AND state = ?", o.Seq, OutboxWaiting).
			Updates(map[string]any{"state": o.State, "attempts": o.Attempts, "next_at": o.NextAt, "message_id": o.MessageID, "error": o.Error}).Error
	})
}

// Purge deletes messages whose delivery ended before the given time.
func (s *Outbox) Purge(ctx context.Context, before int64) error {
	return s.write(ctx, "purge messages to channels", func(tx *gorm.DB) error {
		return tx.Where("created_at < ? AND state <> ?", before, OutboxWaiting).Delete(&outboxRow{}).Error
	})
}

// The states of an outbox row.
const (
	OutboxWaiting = "waiting"
	OutboxSent    = "sent"
	OutboxFailed  = "failed"
)
