package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

type messageRow struct {
	SessionID  protocol.SessionID `gorm:"primaryKey"`
	Seq        int64              `gorm:"primaryKey"`
	SessionKey protocol.SessionKey
	ID         protocol.MessageID `gorm:"column:id"`
	RunID      protocol.RunID
	Role       protocol.Role
	JSON       string `gorm:"column:json"`
	CreatedAt  int64  `gorm:"autoCreateTime:false"`
}

// Messages are the messages of all sessions.
type Messages struct {
	*conn
	sessions *Sessions
	search   *Search
}

// Append stores messages at the end of a session and returns them with their ID and Seq. It creates
// a missing session, and updates counts, usage and activity in the same transaction. A user's
// message restores a deleted or archived session, so that [Sessions.PurgeDeleted] never deletes a
// message that was acknowledged after the deletion. A message whose ID exists already fails with
// protocol.ErrConflict.
func (s *Messages) Append(ctx context.Context, key protocol.SessionKey, msgs ...protocol.Message) ([]protocol.Message, error) {
	out := slices.Clone(msgs)
	if err := s.write(ctx, "store message", func(tx *gorm.DB) error { return s.append(tx, key, out) }); err != nil {
		return nil, err
	}
	return out, nil
}

// countMessage updates the counters of a session for a new message with the given text.
func (s *Session) countMessage(m protocol.Message, plain string) {
	if m.Compaction == nil { // the notice of a compaction does not count as conversation
		s.MessageCount++
	}
	if m.Usage != nil {
		s.Usage.Add(*m.Usage)
		s.ContextTokens = m.Usage.Total
	}
	if m.Role == protocol.RoleUser {
		s.DeletedAt, s.Archived = 0, false
		s.FirstText = cmp.Or(s.FirstText, firstText(m, plain))
	}
}

func (s *Messages) append(tx *gorm.DB, key protocol.SessionKey, msgs []protocol.Message) error {
	now := time.Now().UnixMilli()
	row, err := s.sessions.ensure(tx, key, now)
	if err != nil {
		return err
	}
	rows, contents := make([]messageRow, len(msgs)), make([]protocol.Content, len(msgs))
	for i := range msgs {
		m := &msgs[i]
		m.ID = cmp.Or(m.ID, protocol.MessageID(protocol.NewID()))
		m.Timestamp = cmp.Or(m.Timestamp, now)
		m.Seq = row.NextSeq
		row.NextSeq++
		raw, err := protocol.Marshal(m)
		if err != nil {
			return fmt.Errorf("encode message: %w", err)
		}
		plain := m.Content.ResultText()
		rows[i] = messageRow{row.ID, m.Seq, row.Key, m.ID, m.RunID, m.Role, string(raw), m.Timestamp}
		contents[i] = m.Content
		row.countMessage(*m, plain)
		if m.Usage != nil {
			ref := protocol.ModelRef{Provider: m.Provider, ID: m.Model}
			if err := addUsage(tx, m.Timestamp, ref, *m.Usage); err != nil {
				return err
			}
		}
	}
	row.UpdatedAt, row.LastActiveAt = now, now
	if err := row.save(tx); err != nil {
		return err
	}
	if err := tx.CreateInBatches(&rows, 100).Error; err != nil {
		return err
	}
	if err := addMediaRefs(tx, row.Key, contents...); err != nil {
		return err
	}
	return s.search.add(tx, row.Session, msgs)
}

// List returns messages of the current session ID in order: the last limit ones with a Seq
// below before. limit 0 means all. before 0 means the end, and also omits messages that a
// compaction has archived.
func (s *Messages) List(ctx context.Context, key protocol.SessionKey, before int64, limit int) ([]protocol.Message, error) {
	return s.list(ctx, key, before, limit, "TRUE")
}

// Conversation is Messages without the notices of compactions.
func (s *Messages) Conversation(ctx context.Context, key protocol.SessionKey, before int64, limit int) ([]protocol.Message, error) {
	return s.list(ctx, key, before, limit, noNotice)
}

// noNotice is the SQL condition for a message that is not the notice of a compaction.
const noNotice = "json ->> '$.compaction' IS NULL"

// notRemoved is the SQL condition for a message that no edit and no deletion has removed.
const notRemoved = "removed_by = ''"

func (s *Messages) list(ctx context.Context, key protocol.SessionKey, before int64, limit int, which string) ([]protocol.Message, error) {
	var msgs []protocol.Message
	err := s.read(ctx, "read messages", func(db *gorm.DB) error {
		row, err := findSession(db, key)
		if err != nil {
			return err
		}
		from := row.CompactedThrough + 1
		if before > 0 {
			from = 0
		}
		msgs, err = loadMessages(db.Where(which).Where(notRemoved), row.ID, from, before, limit)
		return err
	})
	return msgs, err
}

var errDamaged = errors.New("read message")

func loadMessages(db *gorm.DB, id protocol.SessionID, from, before int64, limit int) ([]protocol.Message, error) {
	q := db.Model(&messageRow{}).Where("session_id = ? AND seq >= ?", string(id), from).Order("seq DESC")
	if before > 0 {
		q = q.Where("seq < ?", before)
	}
	if limit > 0 {
		q = q.Limit(limit)
	}
	msgs, err := decodeMessages(q)
	slices.Reverse(msgs)
	return msgs, err
}

// Message returns a message by its ID, also one that a summary has replaced. If it is not in the
// conversation, it fails with protocol.ErrNotFound.
func (s *Messages) Message(ctx context.Context, key protocol.SessionKey, id protocol.MessageID) (m protocol.Message, err error) {
	err = s.read(ctx, "read message", func(db *gorm.DB) error {
		var text string
		err := db.Raw("SELECT m.json FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id = ? AND s.key = ? AND m."+notRemoved, string(id), string(key)).Scan(&text).Error
		if err != nil {
			return err
		}
		if text == "" {
			return errMessageGone
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		return nil
	})
	return m, err
}

// OfRun returns the messages that a run has stored so far, in order.
func (s *Messages) OfRun(ctx context.Context, id protocol.RunID) (msgs []protocol.Message, err error) {
	err = s.read(ctx, "read messages", func(db *gorm.DB) error {
		msgs, err = decodeMessages(db.Model(&messageRow{}).Where("run_id = ? AND run_id <> ''", string(id)).Order("created_at, seq"))
		return err
	})
	return msgs, err
}

func decodeMessages(query *gorm.DB) ([]protocol.Message, error) {
	var texts []string
	if err := query.Pluck("json", &texts).Error; err != nil {
		return nil, err
	}
	msgs := make([]protocol.Message, len(texts))
	for i, t := range texts {
		if err := json.Unmarshal([]byte(t), &msgs[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
	return msgs, nil
}

// searchText returns the text of a message for searching, which the results of a search show: with
// the commands and paths of its tool calls. Of a tool's result, which is JSON, it is the output, or
// else the texts in it, each on its own line. In the raw JSON, the first word of each line would
// start with the n of the escaped line break before it.
func searchText(m protocol.Message, plain string) string {
	if m.Role != protocol.RoleToolResult {
		parts := callTexts(m.Content)
		if plain != "" {
			parts = slices.Insert(parts, 0, plain)
		}
		return strings.Join(parts, "\n")
	}
	if text, ok := protocol.Output(plain); ok {
		return text
	}
	if texts, ok := textValues(plain); ok {
		return texts
	}
	return plain
}

// callTexts returns the arguments of tool calls for which people search.
func callTexts(c protocol.Content) (list []string) {
	for _, call := range c.Calls() {
		var args struct{ Command, Path, Pattern, URL string }
		_ = json.Unmarshal(call.Arguments, &args) // other types of arguments are not searchable
		for _, text := range []string{args.Command, args.Path, args.Pattern, args.URL} {
			if text != "" {
				list = append(list, text)
			}
		}
	}
	return list
}

// textValues returns the text values in JSON, in order; ok is false for invalid JSON.
func textValues(raw string) (string, bool) {
	var b strings.Builder
	var open []bool // for each open array or object, whether it is an object
	key := false    // the next text is a key
	for dec := json.NewDecoder(strings.NewReader(raw)); ; {
		t, err := dec.Token()
		if err != nil {
			return b.String(), errors.Is(err, io.EOF) && len(open) == 0
		}
		switch t := t.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				open = append(open, t == '{')
			} else {
				open = open[:len(open)-1]
			}
		case string:
			if key {
				key = false
				continue
			}
			if t != "" {
				if b.Len() > 0 {
					b.WriteByte('\n')
				}
				b.WriteString(t)
			}
		}
		key = len(open) > 0 && open[len(open)-1]
	}
}
