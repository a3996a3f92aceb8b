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

// Run is one run of the agent, or a queued message. Params contains no image data; Images are its
// images as stored blocks.
type Run struct {
	ID                            protocol.RunID
	Session                       protocol.SessionKey
	State                         string // a protocol.Run constant
	Params                        protocol.ChatSendParams
	Images                        protocol.Content
	Principal                     string
	CreatedAt, StartedAt, EndedAt int64
	Step                          int
	// Answer is the last text that the agent wrote, once the run has ended.
	Answer string
	Error  *protocol.Error
}

// Runs are the runs of agents, including queued messages.
type Runs struct {
	*conn
	messages *Messages
}

type runRow struct {
	ID         string `gorm:"primaryKey;column:id"`
	SessionKey string
	State      string
	Params     string
	Images     string
	Principal  string
	CreatedAt  int64 `gorm:"autoCreateTime:false"`
	StartedAt  int64
	EndedAt    int64
	Step       int
	Answer     string
	Error      string
}

func (runRow) TableName() string { return "runs" }

func rowOfRun(r Run) runRow {
	if r.Images == nil {
		r.Images = protocol.Content{}
	}
	row := runRow{
		ID: string(r.ID), SessionKey: string(r.Session), State: r.State, Params: jsonText(r.Params), Images: jsonText(r.Images),
		Principal: r.Principal, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt, Step: r.Step, Answer: r.Answer, Error: "null",
	}
	if r.Error != nil {
		row.Error = jsonText(r.Error)
	}
	return row
}

func (r runRow) run() (Run, error) {
	out := Run{
		ID: protocol.RunID(r.ID), Session: protocol.SessionKey(r.SessionKey), State: r.State, Principal: r.Principal,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt, Step: r.Step, Answer: r.Answer,
	}
	err := errors.Join(json.Unmarshal([]byte(r.Params), &out.Params), json.Unmarshal([]byte(r.Images), &out.Images),
		json.Unmarshal([]byte(r.Error), &out.Error))
	if err != nil {
		return Run{}, fmt.Errorf("read run %s: %w", r.ID, err)
	}
	return out, nil
}

// Put stores a new or changed run. If its session does not exist, it fails with
// protocol.ErrNotFound.
func (s *Runs) Put(ctx context.Context, r Run) error {
	return s.write(ctx, "store run", func(tx *gorm.DB) error { return putRun(tx, r) })
}

func putRun(tx *gorm.DB, r Run) error {
	row := rowOfRun(r)
	if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
		return err
	}
	return addMediaRefs(tx, row.SessionKey, r.Images)
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

// Unfinished returns the runs that have not ended, oldest first.
func (s *Runs) Unfinished(ctx context.Context) ([]Run, error) {
	var rows []runRow
	err := s.read(ctx, "list runs", func(db *gorm.DB) error {
		return db.Where("ended_at = 0").Order("created_at, id").Find(&rows).Error
	})
	if err != nil {
		return nil, err
	}
	runs := make([]Run, len(rows))
	for i, r := range rows {
		var err error
		if runs[i], err = r.run(); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// Get returns a run, or protocol.ErrNotFound.
func (s *Runs) Get(ctx context.Context, id protocol.RunID) (Run, error) {
	var row runRow
	err := s.read(ctx, "read run", func(db *gorm.DB) error { return db.Where("id = ?", string(id)).Take(&row).Error })
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return Run{}, protocol.ErrNotFound.With(fmt.Sprintf("No run has the id %s", id))
	}
	if err != nil {
		return Run{}, err
	}
	return row.run()
}

// OfRun returns the messages that a run has stored so far, in order.
func (s *Messages) OfRun(ctx context.Context, id protocol.RunID) ([]protocol.Message, error) {
	var texts []string
	err := s.read(ctx, "read messages", func(db *gorm.DB) error {
		return db.Model(&messageRow{}).Where("run_id = ? AND run_id <> ''", string(id)).Order("created_at, seq").Pluck("json", &texts).Error
	})
	if err != nil {
		return nil, err
	}
	msgs := make([]protocol.Message, len(texts))
	for i, t := range texts {
		if err := json.Unmarshal([]byte(t), &msgs[i]); err != nil {
			return nil, fmt.Errorf("read message: %w", err)
		}
	}
	return msgs, nil
}
