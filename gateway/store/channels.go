package store

import (
	"context"
	"encoding/json"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// ChannelAccount is an account that the gateway itself connects. Config contains no secrets.
type ChannelAccount struct {
	Channel   string                     `gorm:"primaryKey"`
	Account   string                     `gorm:"primaryKey"`
	Config    map[string]json.RawMessage `gorm:"serializer:json"`
	Autostart bool                       // it connects when the gateway starts
	UpdatedAt int64                      `gorm:"autoUpdateTime:false"`
}

// Route is the address for the answers of a chat.
type Route struct {
	Channel   string        `json:"channel"`
	AccountID string        `json:"accountId"`
	Peer      protocol.Peer `json:"peer"`
	// in groups: the sender of the answered message
	ReplyToID string `json:"replyToId,omitempty"`
}

// ChannelRun is a run whose answers go to a channel.
type ChannelRun struct {
	Run     protocol.RunID      `gorm:"primaryKey;column:run_id"`
	Session protocol.SessionKey `gorm:"column:session_key"`
	Route   Route               `gorm:"serializer:json"`
}

// Channels are the accounts of channels, the people who write there and the addresses of sessions.
type Channels struct{ *conn }

type channelSeenRow struct {
	Channel    string `gorm:"primaryKey"`
	Account    string `gorm:"primaryKey"`
	ReceivedAt int64
}

func (channelSeenRow) TableName() string { return "channel_activity" }

type channelRouteRow struct {
	SessionKey protocol.SessionKey `gorm:"primaryKey"`
	UsedAt     int64
	Route      Route `gorm:"serializer:json"`
}

// Accounts returns every account, in no order.
func (s *Channels) Accounts(ctx context.Context) ([]ChannelAccount, error) {
	return find[ChannelAccount](ctx, s.conn, "read channel accounts", func(db *gorm.DB) *gorm.DB { return db })
}

// PutAccount stores a new or changed account.
func (s *Channels) PutAccount(ctx context.Context, a ChannelAccount) error {
	return s.write(ctx, "store channel account", func(tx *gorm.DB) error { return upsert(tx, &a) })
}

// DeleteAccount deletes an account and its undelivered messages.
func (s *Channels) DeleteAccount(ctx context.Context, channel, account string) error {
	return s.write(ctx, "remove channel account", func(tx *gorm.DB) error {
		if err := tx.Where("channel = ? AND account = ?", channel, account).Delete(&ChannelAccount{}).Error; err != nil {
			return err
		}
		return tx.Where("channel = ? AND account = ? AND state = ?", channel, account, OutboxWaiting).Delete(&outboxRow{}).Error
	})
}

// SetReceivedAt stores the time at which an account last received a message.
func (s *Channels) SetReceivedAt(ctx context.Context, channel, account string, at int64) error {
	row := channelSeenRow{channel, account, at}
	return s.write(ctx, "store time of a channel's message", func(tx *gorm.DB) error { return upsert(tx, &row) })
}

// ReceivedAt returns when each account last received a message, by CHANNEL:ACCOUNT.
func (s *Channels) ReceivedAt(ctx context.Context) (map[string]int64, error) {
	rows, err := find[channelSeenRow](ctx, s.conn, "read channels", func(db *gorm.DB) *gorm.DB { return db })
	seen := make(map[string]int64, len(rows))
	for _, r := range rows {
		seen[r.Channel+":"+r.Account] = r.ReceivedAt
	}
	return seen, err
}

// StartRun stores the address for the answers of a run, and makes it the chat's last
// address.
func (s *Channels) StartRun(ctx context.Context, r ChannelRun, at int64) error {
	return s.write(ctx, "store run of a channel", func(tx *gorm.DB) error {
		if err := upsert(tx, &r); err != nil {
			return err
		}
		return upsert(tx, &channelRouteRow{r.Session, at, r.Route})
	})
}

// SetLastRoute makes an address the chat's last one, for a message that starts no run.
func (s *Channels) SetLastRoute(ctx context.Context, session protocol.SessionKey, r Route, at int64) error {
	return s.write(ctx, "store last address of a chat", func(tx *gorm.DB) error {
		return upsert(tx, &channelRouteRow{session, at, r})
	})
}

// EndRun deletes a run's address.
func (s *Channels) EndRun(ctx context.Context, run protocol.RunID) error {
	return s.write(ctx, "delete run of a channel", func(tx *gorm.DB) error {
		return tx.Where("run_id = ?", string(run)).Delete(&ChannelRun{}).Error
	})
}

// Runs returns the runs whose answers are not all in the outbox.
func (s *Channels) Runs(ctx context.Context) ([]ChannelRun, error) {
	return find[ChannelRun](ctx, s.conn, "read runs of channels", func(db *gorm.DB) *gorm.DB { return db })
}

// LastRoute returns the last address of a chat, and when it was used. Without one, it fails
// with protocol.ErrNotFound.
func (s *Channels) LastRoute(ctx context.Context, session protocol.SessionKey) (r Route, at int64, err error) {
	return s.lastRoute(ctx, func(db *gorm.DB) *gorm.DB { return db.Where("session_key = ?", string(session)) })
}

// LastRouteOfAgent returns the last address of any chat of an agent, and when it was used. If there
// is none, it fails with protocol.ErrNotFound.
func (s *Channels) LastRouteOfAgent(ctx context.Context, agent protocol.AgentID) (r Route, at int64, err error) {
	own := "agent:" + string(agent) + ":"
	return s.lastRoute(ctx, func(db *gorm.DB) *gorm.DB {
		if agent == protocol.MainAgent { // a key without an agent belongs to the main one
			return db.Where("session_key LIKE ? OR session_key NOT LIKE 'agent:%'", own+"%")
		}
		return db.Where("substr(session_key, 1, ?) = ?", len(own), own)
	})
}

func (s *Channels) lastRoute(ctx context.Context, which func(*gorm.DB) *gorm.DB) (r Route, at int64, err error) {
	row, err := findOne[channelRouteRow](ctx, s.conn, "read route of a chat", "Nobody has written to this chat on a channel yet.", func(db *gorm.DB) *gorm.DB {
		return which(db).Order("used_at DESC")
	})
	return row.Route, row.UsedAt, err
}

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
	err = s.write(ctx, "store message to a channel", func(tx *gorm.DB) (err error) {
		added, err = o.put(tx)
		return err
	})
	return added, err
}

func (o Outbound) put(tx *gorm.DB) (added bool, err error) {
	o.Seq, o.State = 0, OutboxWaiting
	res := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&outboxRow{o, o.Event.Channel, o.Event.AccountID})
	return res.RowsAffected > 0, res.Error
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
