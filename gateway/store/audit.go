package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// Audit is the audit log.
type Audit struct{ *conn }

type auditRow struct {
	Seq        int64 `gorm:"primaryKey"`
	At         int64
	Kind       string
	Node       string
	SessionKey string
	Rule       string
	Entry      string
	Hash       string
}

func (auditRow) TableName() string { return "audit" }

func (r auditRow) entry() (protocol.AuditEntry, error) {
	var e protocol.AuditEntry
	if err := json.Unmarshal([]byte(r.Entry), &e); err != nil {
		return e, fmt.Errorf("read audit entry %d: %w", r.Seq, err)
	}
	e.Seq, e.Hash = r.Seq, r.Hash
	return e, nil
}

// chainHash returns the hash of a row, chained to the hash of the row before. It covers the columns
// too, so that filters cannot be deceived.
func (r auditRow) chainHash(before string) string {
	sum := sha256.New()
	for _, part := range []string{before, fmt.Sprint(r.Seq), fmt.Sprint(r.At), r.Kind, r.Node, r.SessionKey, r.Rule, r.Entry} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Append appends entries permanently. It sets Seq and Hash.
func (s *Audit) Append(ctx context.Context, lines ...protocol.AuditEntry) error {
	return s.write(ctx, "store audit entry", func(tx *gorm.DB) error { return appendAudit(tx, lines) })
}

func appendAudit(tx *gorm.DB, lines []protocol.AuditEntry) error {
	if len(lines) == 0 {
		return nil
	}
	var seq int64
	var hash string
	err := tx.Statement.ConnPool.QueryRowContext(context.Background(), "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").Scan(&seq, &hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for _, e := range lines {
		seq++
		e.Seq, e.Hash = 0, ""
		entry, err := protocol.Marshal(e)
		if err != nil {
			return err
		}
		row := auditRow{Seq: seq, At: e.At, Kind: e.Kind, Node: string(e.Node), SessionKey: string(e.SessionKey), Rule: e.Rule, Entry: string(entry)}
		hash = row.chainHash(hash)
		err = execSQL(tx, "INSERT INTO audit (seq, at, kind, node, session_key, rule, entry, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			row.Seq, row.At, row.Kind, row.Node, row.SessionKey, row.Rule, row.Entry, hash)
		if err != nil {
			return err
		}
	}
	return nil
}

// List returns the entries that match q, newest first, and whether there are more.
func (s *Audit) List(ctx context.Context, q protocol.AuditListParams) (list []protocol.AuditEntry, more bool, err error) {
	var rows []auditRow
	err = s.read(ctx, "read audit", func(db *gorm.DB) error {
		words, err := auditQuery(db, q)
		if err != nil {
			return err
		}
		line := "seq"
		if words != "" {
			// Start from the results of the text search, newest first.
			line = "audit_search.rowid"
			db = db.Table("audit_search").Select("audit.*").Joins("CROSS JOIN audit ON audit.seq = audit_search.rowid").
				Where("audit_search MATCH ?", words)
		}
		for column, value := range map[string]string{"node": string(q.Node), "session_key": string(q.SessionKey), "rule": q.Rule, "kind": q.Kind} {
			if value != "" {
				db = db.Where(column+" = ?", value)
			}
		}
		// Partial indexes are used only if the query repeats their condition.
		if q.Rule != "" {
			db = db.Where("rule <> ''")
		}
		if q.Kind != "" && q.Kind != protocol.AuditCall {
			db = db.Where("kind <> 'call'")
		}
		if q.Before > 0 {
			db = db.Where(line+" < ?", q.Before)
		}
		if q.After > 0 {
			db = db.Where("at >= ?", q.After)
		}
		return db.Order(line + " DESC").Limit(q.Limit + 1).Find(&rows).Error
	})
	if err != nil {
		return nil, false, err
	}
	rows, more = page(rows, q.Limit)
	list = make([]protocol.AuditEntry, len(rows))
	for i, r := range rows {
		if list[i], err = r.entry(); err != nil {
			return nil, false, err
		}
	}
	return list, more, nil
}

// AuditHead is the last entry of the audit log at some moment. Stored outside the database, it
// proves that no earlier entry was rewritten and no later one cut off.
type AuditHead struct {
	Seq  int64 // 0: no entry yet
	Hash string
}

// Head returns the last entry.
func (s *Audit) Head(ctx context.Context) (AuditHead, error) {
	var row auditRow
	err := s.read(ctx, "read audit", func(db *gorm.DB) error { return db.Order("seq DESC").Limit(1).Find(&row).Error })
	return AuditHead{row.Seq, row.Hash}, err
}

// Contains reports whether the log still contains the entry that was once its head; every log
// contains the zero head.
func (s *Audit) Contains(ctx context.Context, known AuditHead) (bool, error) {
	if known.Seq == 0 {
		return true, nil
	}
	var n int64
	err := s.read(ctx, "read audit", func(db *gorm.DB) error {
		return db.Model(&auditRow{}).Where("seq = ? AND hash = ?", known.Seq, known.Hash).Count(&n).Error
	})
	return n == 1, err
}

// Verify checks the whole hash chain and returns the first invalid entry. known is a head that
// was stored elsewhere, zero for none. It reads all entries: a million take some seconds.
func (s *Audit) Verify(ctx context.Context, known AuditHead) (protocol.AuditVerifyResult, error) {
	var res protocol.AuditVerifyResult
	before := auditRow{}
	err := s.read(ctx, "verify audit", func(db *gorm.DB) error {
		rows, err := db.Model(&auditRow{}).Order("seq").Rows()
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r auditRow
			if err := db.ScanRows(rows, &r); err != nil {
				return err
			}
			res.Lines++
			switch {
			case r.Seq != before.Seq+1:
				res.Broken, res.Why = r.Seq, fmt.Sprintf("%d entries before it are missing", r.Seq-before.Seq-1)
			case r.Hash != r.chainHash(before.Hash):
				res.Broken, res.Why = r.Seq, "it or the entry before it was changed"
			case r.Seq == known.Seq && r.Hash != known.Hash:
				res.Broken, res.Why = r.Seq, "it or an earlier entry was changed, together with all later hashes"
			}
			if res.Broken > 0 {
				return nil
			}
			before = r
		}
		if before.Seq < known.Seq {
			res.Broken, res.Why = before.Seq+1, fmt.Sprintf("the log ends before it; at least %d entries are missing", known.Seq-before.Seq)
		}
		return rows.Err()
	})
	return res, err
}

// Words that are the same in the index's vocabulary, because the tokenizer does not change them.
var plainWord = regexp.MustCompile(`^[0-9A-Za-z]{4,}$`)

// maxTerms is the number of words with the same prefix that are listed one by one.
const maxTerms = 64

// auditQuery returns a query for the text search: every word, as a prefix. The index stores all
// prefixes of up to three letters. For a longer one, SQLite would merge the entries of all words
// with that prefix, which takes seconds if they are in every entry; so if there are only a few such
// words, the query lists them. The index contains the filters' values too, as words anywhere in an
// entry, which narrows the results almost to the exact ones.
func auditQuery(db *gorm.DB, q protocol.AuditListParams) (string, error) {
	var out []string
	for _, w := range strings.FieldsFunc(q.Query, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }) {
		word := `"` + w + `"*`
		if plainWord.MatchString(w) {
			low := strings.ToLower(w)
			var longer []string
			err := db.Raw("SELECT term FROM audit_terms WHERE term >= ? AND term < ? LIMIT ?", low+"\x01", low+"\U0010ffff", maxTerms+1).Scan(&longer).Error
			if err != nil {
				return "", err
			}
			if len(longer) <= maxTerms {
				word = `("` + strings.Join(append([]string{low}, longer...), `" OR "`) + `")`
			}
		}
		out = append(out, word)
	}
	if len(out) == 0 {
		return "", nil
	}
	for _, value := range []string{string(q.Node), string(q.SessionKey), q.Rule, q.Kind} {
		if strings.ContainsFunc(value, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			out = append(out, `"`+strings.ReplaceAll(value, `"`, " ")+`"`)
		}
	}
	return strings.Join(out, " AND "), nil
}
