package store

import (
	"strconv"
	"strings"

	"gorm.io/gorm"
)

// parts describes a migration that processes a large table in many transactions, with the same
// result as its file. It can report its progress, needs little space beside the database, and
// continues at the next start after the program was killed.
type parts struct {
	begin string // before the first part
	// The table is processed in the order of its integer key id, rows rows at a time.
	table, id string
	rows      int
	each      string // for the rows with an id above :after and up to :through
	end       string // after the last part
}

// inParts are the long migrations, by number.
var inParts = map[int]parts{
	15: {
		begin: `CREATE VIRTUAL TABLE audit_search USING fts5 (words, content = '', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
			INSERT INTO audit_search (audit_search, rank) VALUES ('hashsize', 33554432);`,
		table: "audit", id: "seq", rows: 10_000,
		each: `INSERT INTO audit_search (rowid, words) SELECT seq, kind || ' ' || node || ' ' || session_key || ' ' || rule || ' ' || ifnull(entry ->> '$.by', '') || ' ' ||
			ifnull(entry ->> '$.tool', '') || ' ' || ifnull(entry ->> '$.what', '') || ' ' || ifnull(entry ->> '$.verdict', '') || ' ' ||
			ifnull(entry ->> '$.why', '') || ' ' || ifnull(entry ->> '$.state', '') || ' ' || ifnull(entry ->> '$.approvalId', '') FROM audit
			WHERE seq > :after AND seq <= :through;`,
		end: `CREATE TRIGGER audit_in AFTER INSERT ON audit BEGIN
  INSERT INTO audit_search (rowid, words) VALUES (new.seq, new.kind || ' ' || new.node || ' ' || new.session_key || ' ' || new.rule || ' ' || ifnull(new.entry ->> '$.by', '') || ' ' || 
    ifnull(new.entry ->> '$.tool', '') || ' ' || ifnull(new.entry ->> '$.what', '') || ' ' || ifnull(new.entry ->> '$.verdict', '') || ' ' || 
    ifnull(new.entry ->> '$.why', '') || ' ' || ifnull(new.entry ->> '$.state', '') || ' ' || ifnull(new.entry ->> '$.approvalId', ''));
END;
			INSERT INTO audit_search (audit_search, rank) VALUES ('hashsize', 1048576);`,
	},
	17: {
		begin: `INSERT INTO message_search (message_search, rank) VALUES ('hashsize', 33554432);`,
		table: "message_texts", id: "id", rows: 10_000,
		each: `CREATE TABLE message_texts_new AS
				SELECT t.id, t.session_key, t.session_id, t.seq,
					(SELECT group_concat(value, char(10)) FROM (SELECT value FROM json_tree(t.words) WHERE type = 'text' AND value <> '' ORDER BY id)) AS words
				FROM message_texts t JOIN messages m ON m.session_id = t.session_id AND m.seq = t.seq
				WHERE t.id > :after AND t.id <= :through AND m.role = 'toolResult' AND substr(t.words, 1, 1) IN ('{', '[') AND json_valid(t.words);
			DELETE FROM message_texts WHERE id IN (SELECT id FROM message_texts_new);
			INSERT INTO message_texts (id, session_key, session_id, seq, words)
				SELECT id, session_key, session_id, seq, words FROM message_texts_new WHERE words IS NOT NULL;
			DROP TABLE message_texts_new;`,
		end: `INSERT INTO message_search (message_search, rank) VALUES ('hashsize', 1048576);`,
	},
}

// mark is the checkpoint of a migration in parts. Its table exists only while one is in progress.
type mark struct {
	Through     int64 // the last processed id
	Done, Total int64 // rows
}

// next runs the next part, and reports whether it was the last one. Before it starts, it calls at
// with the percentage so far.
func (p parts) next(tx *gorm.DB, at func(percent int)) (over bool, err error) {
	m, err := p.mark(tx)
	if err != nil {
		return false, err
	}
	at(int(100 * min(m.Done, m.Total) / max(m.Total, 1)))
	var part struct{ Last, Rows int64 }
	if err := tx.Raw("SELECT coalesce(max(id), 0) AS last, count(*) AS rows FROM (SELECT "+p.id+" AS id FROM "+p.table+" WHERE "+p.id+" > ? ORDER BY 1 LIMIT ?)",
		m.Through, p.rows).Scan(&part).Error; err != nil {
		return false, err
	}
	if part.Rows == 0 {
		return true, tx.Exec(p.end + "DROP TABLE updating").Error
	}
	sql := strings.NewReplacer(":after", strconv.FormatInt(m.Through, 10), ":through", strconv.FormatInt(part.Last, 10)).Replace(p.each)
	if err := tx.Exec(sql).Error; err != nil {
		return false, err
	}
	return false, tx.Exec("UPDATE updating SET through = ?, done = done + ?", part.Last, part.Rows).Error
}

// mark reads the checkpoint, and creates it at the start.
func (p parts) mark(tx *gorm.DB) (m mark, err error) {
	if tx.Migrator().HasTable("updating") {
		return m, tx.Raw("SELECT through, done, total FROM updating").Scan(&m).Error
	}
	if err := tx.Exec(p.begin + `CREATE TABLE updating (through INTEGER NOT NULL, done INTEGER NOT NULL, total INTEGER NOT NULL) STRICT;
		INSERT INTO updating SELECT -1, 0, count(*) FROM ` + p.table).Error; err != nil {
		return m, err
	}
	return m, tx.Raw("SELECT through, done, total FROM updating").Scan(&m).Error
}
