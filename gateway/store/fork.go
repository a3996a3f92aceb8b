package store

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Fork creates a chat with copies of another one's messages up to through. They have no usage,
// because nothing was spent on them again, and belong to no run. A summary is copied if it replaces
// only a part of them. The new chat has the key, label and settings of to.
func (s *Archives) Fork(ctx context.Context, from protocol.SessionKey, to Session, through, now int64) error {
	return s.write(ctx, "fork chat", func(tx *gorm.DB) error {
		source, err := findSession(tx, from)
		if err != nil {
			return err
		}
		msgs, err := loadMessages(tx.Where(notRemoved), source.ID, 0, source.NextSeq, 0)
		if err != nil {
			return err
		}
		list, summarized := forkedMessages(msgs, source.CompactedThrough, through)
		row, err := s.messages.sessions.ensure(tx, to.Key, now)
		if err != nil {
			return err
		}
		row.Label, row.Prefs = to.Label, to.Prefs
		if err := row.save(tx); err != nil {
			return err
		}
		if len(list) > 0 {
			if err := s.messages.append(tx, to.Key, list); err != nil {
				return err
			}
			if row, err = findSession(tx, to.Key); err != nil {
				return err
			}
		}
		if summarized > 0 {
			a := Archive{ID: list[summarized].Compaction.ArchiveID, Key: to.Key, Session: row.ID, Kind: protocol.ArchiveCompact, First: 1, Last: int64(summarized), CreatedAt: now}
			if err := storeArchive(tx, &a); err != nil {
				return err
			}
		}
		row.CompactedThrough = int64(summarized)
		return recount(tx, &row)
	})
}

// forkedMessages returns the messages of a fork, and the number of those that a summary replaces.
// The summary follows directly after them.
func forkedMessages(msgs []protocol.Message, compacted, through int64) (list []protocol.Message, summarized int) {
	var notice *protocol.Message
	for i, m := range msgs {
		switch {
		case m.Compaction != nil:
			if m.Compaction.Through == compacted {
				notice = &msgs[i]
			}
			continue
		case m.Seq > through:
			continue
		case m.Seq <= compacted:
			summarized++
		}
		m.ID, m.RunID, m.Usage = "", "", nil
		list = append(list, m)
	}
	if notice == nil || summarized == 0 || summarized == len(list) {
		return list, 0
	}
	m := *notice
	m.ID, m.RunID = "", ""
	m.Compaction = &protocol.Compaction{ArchiveID: protocol.ArchiveID(protocol.NewID()), Through: int64(summarized), Messages: summarized}
	return slices.Insert(list, summarized, m), summarized
}
