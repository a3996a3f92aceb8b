package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"fairlead/gateway/protocol"
)

// ChannelAccount is an account that the gateway itself connects. Config contains no secrets.
type ChannelAccount struct {
	Channel, Account string
	Config           map[string]json.RawMessage
	Autostart        bool // it connects when the gateway starts
	UpdatedAt        int64
}

// Pair is an unknown sender who wrote, and the address for answers to them.
type Pair struct {
	protocol.PendingPair
	Peer protocol.Peer `json:"peer"`
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
	Run     protocol.RunID
	Session protocol.SessionKey
	Route   Route
}

// Channels are the accounts of channels, the people who write there and the addresses of sessions.
type Channels struct{ *conn }

type channelAccountRow struct {
	Channel   string `gorm:"primaryKey"`
	Account   string `gorm:"primaryKey"`
	Config    string
	Autostart bool
	UpdatedAt int64 `gorm:"autoUpdateTime:false"`
}

func (channelAccountRow) TableName() string { return "channel_accounts" }

type channelSeenRow struct {
	Channel    string `gorm:"primaryKey"`
	Account    string `gorm:"primaryKey"`
	ReceivedAt int64
}

func (channelSeenRow) TableName() string { return "channel_activity" }

type channelPairRow struct {
	Channel     string `gorm:"primaryKey"`
	Sender      string `gorm:"primaryKey"`
	RequestedAt int64
	JSON        string `gorm:"column:json"`
}

func (channelPairRow) TableName() string { return "channel_pairs" }

type channelRunRow struct {
	RunID      string `gorm:"primaryKey;column:run_id"`
	SessionKey string
	Route      string
}

func (channelRunRow) TableName() string { return "channel_runs" }

type channelRouteRow struct {
	SessionKey string `gorm:"primaryKey"`
	UsedAt     int64
	Route      string
}

func (channelRouteRow) TableName() string { return "channel_routes" }

// Accounts returns every account, in no order.
func (s *Channels) Accounts(ctx context.Context) ([]ChannelAccount, error) {
	var rows []channelAccountRow
	if err := s.read(ctx, "read channel accounts", func(db *gorm.DB) error { return db.Find(&rows).Error }); err != nil {
		return nil, err
	}
	list := make([]ChannelAccount, len(rows))
	for i, r := range rows {
		list[i] = ChannelAccount{Channel: r.Channel, Account: r.Account, Autostart: r.Autostart, UpdatedAt: r.UpdatedAt}
		if err := json.Unmarshal([]byte(r.Config), &list[i].Config); err != nil {
			return nil, fmt.Errorf("read channel account %s:%s: %w", r.Channel, r.Account, err)
		}
	}
	return list, nil
}

// PutAccount stores a new or changed account.
func (s *Channels) PutAccount(ctx context.Context, a ChannelAccount) error {
	if a.Config == nil {
		a.Config = map[string]json.RawMessage{}
	}
	row := channelAccountRow{a.Channel, a.Account, jsonText(a.Config), a.Autostart, a.UpdatedAt}
	return s.write(ctx, "store channel account", func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}

// DeleteAccount deletes an account and its undelivered messages.
func (s *Channels) DeleteAccount(ctx context.Context, channel, account string) error {
	return s.write(ctx, "remove channel account", func(tx *gorm.DB) error {
		if err := tx.Where("channel = ? AND account = ?", channel, account).Delete(&channelAccountRow{}).Error; err != nil {
			return err
		}
		return tx.Where("channel = ? AND account = ? AND state = ?", channel, account, OutboxWaiting).Delete(&outboxRow{}).Error
	})
}

// SetReceivedAt stores the time at which an account last received a message.
func (s *Channels) SetReceivedAt(ctx context.Context, channel, account string, at int64) error {
	row := channelSeenRow{channel, account, at}
	return s.write(ctx, "store time of a channel's message", func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
}

// ReceivedAt returns when each account last received a message, by CHANNEL:ACCOUNT.
func (s *Channels) ReceivedAt(ctx context.Context) (map[string]int64, error) {
	var rows []channelSeenRow
	err := s.read(ctx, "read channels", func(db *gorm.DB) error { return db.Find(&rows).Error })
	seen := make(map[string]int64, len(rows))
	for _, r := range rows {
		seen[r.Channel+":"+r.Account] = r.ReceivedAt
	}
	return seen, err
}

// Pairs returns the unknown senders who wrote, oldest first.
func (s *Channels) Pairs(ctx context.Context) ([]Pair, error) {
	var rows []channelPairRow
	if err := s.read(ctx, "read pairing requests", func(db *gorm.DB) error { return db.Order("requested_at, channel, sender").Find(&rows).Error }); err != nil {
		return nil, err
	}
	list := make([]Pair, len(rows))
	for i, r := range rows {
		if err := json.Unmarshal([]byte(r.JSON), &list[i]); err != nil {
			return nil, fmt.Errorf("read pairing request %s:%s: %w", r.Channel, r.Sender, err)
		}
	}
	return list, nil
}

// AddPair stores an unknown sender, and reports whether they are new. At most most are stored per
// channel, and none from before since; when the limit is reached, a new one fails with
// protocol.ErrUnavailable.
func (s *Channels) AddPair(ctx context.Context, p Pair, since int64, most int) (added bool, err error) {
	row := channelPairRow{p.Channel, p.SenderID, p.RequestedAt, jsonText(p)}
	err = s.write(ctx, "store pairing request", func(tx *gorm.DB) error {
		added = false
		if err := tx.Where("requested_at < ?", since).Delete(&channelPairRow{}).Error; err != nil {
			return err
		}
		var have, all int64
		if err := tx.Model(&channelPairRow{}).Where("channel = ? AND sender = ?", p.Channel, p.SenderID).Count(&have).Error; err != nil || have > 0 {
			return err
		}
		if err := tx.Model(&channelPairRow{}).Where("channel = ?", p.Channel).Count(&all).Error; err != nil {
			return err
		}
		if int(all) >= most {
			return protocol.ErrUnavailable.With("Too many unknown senders are waiting for an answer.")
		}
		added = true
		return tx.Create(&row).Error
	})
	return added, err
}

// TakePair removes an unknown sender and returns them. One from before since, or one that does not
// exist, fails with protocol.ErrNotFound.
func (s *Channels) TakePair(ctx context.Context, channel, sender string, since int64) (p Pair, err error) {
	var rows []channelPairRow
	err = s.write(ctx, "remove pairing request", func(tx *gorm.DB) error {
		if err := tx.Where("channel = ? AND sender = ? AND requested_at >= ?", channel, sender, since).Find(&rows).Error; err != nil {
			return err
		}
		return tx.Where("channel = ? AND sender = ?", channel, sender).Delete(&channelPairRow{}).Error
	})
	if err == nil && len(rows) == 0 {
		err = protocol.ErrNotFound.With(fmt.Sprintf("No pending pairing for %s:%s", channel, sender))
	}
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal([]byte(rows[0].JSON), &p)
}

// StartRun stores the address for the answers of a run, and makes it the chat's last
// address.
func (s *Channels) StartRun(ctx context.Context, r ChannelRun, at int64) error {
	return s.write(ctx, "store run of a channel", func(tx *gorm.DB) error {
		run := channelRunRow{string(r.Run), string(r.Session), jsonText(r.Route)}
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&run).Error; err != nil {
			return err
		}
		chat := channelRouteRow{string(r.Session), at, jsonText(r.Route)}
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&chat).Error
	})
}

// EndRun deletes a run's address.
func (s *Channels) EndRun(ctx context.Context, run protocol.RunID) error {
	return s.write(ctx, "delete run of a channel", func(tx *gorm.DB) error {
		return tx.Where("run_id = ?", string(run)).Delete(&channelRunRow{}).Error
	})
}

// Runs returns the runs whose answers are not all in the outbox.
func (s *Channels) Runs(ctx context.Context) ([]ChannelRun, error) {
	var rows []channelRunRow
	if err := s.read(ctx, "read runs of channels", func(db *gorm.DB) error { return db.Find(&rows).Error }); err != nil {
		return nil, err
	}
	list := make([]ChannelRun, len(rows))
	for i, r := range rows {
		list[i] = ChannelRun{Run: protocol.RunID(r.RunID), Session: protocol.SessionKey(r.SessionKey)}
		if err := json.Unmarshal([]byte(r.Route), &list[i].Route); err != nil {
			return nil, fmt.Errorf("read the route of run %s: %w", r.RunID, err)
		}
	}
	return list, nil
}

// LastRoute returns the last address of a chat, and when it was used. If there is none, it fails
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
	var row channelRouteRow
	err = s.read(ctx, "read route of a chat", func(db *gorm.DB) error { return which(db).Order("used_at DESC").Take(&row).Error })
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return r, 0, protocol.ErrNotFound.With("Nobody has written to this chat on a channel yet.")
	}
	if err != nil {
		return r, 0, err
	}
	return r, row.UsedAt, json.Unmarshal([]byte(row.Route), &r)
}
