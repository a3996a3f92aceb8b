package store

import (
	"context"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Search searches the texts of messages.
type Search struct {
	*conn
	// timeLimit is the time after which a search returns its results so far; 0 means no limit.
	timeLimit      time.Duration
	timeCheckEvery int // see the constant
	sinceTimeCheck int // number of texts since the last time check; used by the writer only
}

// messageTextRow is a message's text. Triggers update the full-text index.
type messageTextRow struct {
	ID         int64 `gorm:"primaryKey;autoIncrement:false"` // its time, see idsPerMilli
	SessionKey string
	SessionID  string
	Seq        int64
	Text       string
	at         int64 // Unix milliseconds
}

// idsPerMilli is the number of IDs per millisecond; the last one is for a time check.
const idsPerMilli = 1024

// maxSearchText is the number of bytes of a message that are searchable.
const maxSearchText = 64 << 10

// assignIDs assigns IDs to texts: their time, and a number among the texts of the same time.
func assignIDs(tx *gorm.DB, texts []messageTextRow) error {
	next := map[int64]int64{}
	for i := range texts {
		// more at one time do not occur in practice; the next millisecond would do
		for first := max(texts[i].at, 0) * idsPerMilli; ; first += idsPerMilli {
			id, known := next[first]
			if !known {
				if err := tx.Raw("SELECT coalesce(max(id) + 1, ?) FROM message_texts WHERE id BETWEEN ? AND ?", first, first, first+idsPerMilli-2).Scan(&id).Error; err != nil {
					return err
				}
			}
			next[first] = id
			if id < first+idsPerMilli-1 {
				texts[i].ID = id
				next[first]++
				break
			}
		}
	}
	return nil
}

// add makes messages of a session searchable.
func (s *Search) add(tx *gorm.DB, of Session, msgs []protocol.Message) error {
	var texts []messageTextRow
	for _, m := range msgs {
		if words := searchText(m, m.Content.Text()); words != "" {
			texts = append(texts, messageTextRow{SessionKey: string(of.Key), SessionID: string(of.ID), Seq: m.Seq, Text: separateWords(format.Head(words, maxSearchText)), at: m.Timestamp})
		}
	}
	if len(texts) == 0 {
		return nil
	}
	if err := assignIDs(tx, texts); err != nil {
		return err
	}
	if err := tx.CreateInBatches(&texts, 100).Error; err != nil {
		return err
	}
	return s.addTimeChecks(tx, texts)
}

// wordSeparator is a zero-width separator between characters that are words of their own for the
// index: those of scripts that are written without spaces, and symbols.
const wordSeparator = "\u200b"

// symbols are the categories of characters that the index treats as words, if they are not ASCII.
var symbols = []*unicode.RangeTable{unicode.So, unicode.Sm, unicode.Sc}

var ownWords = append([]*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}, symbols...)

// isOwnWord reports whether a character is a word of its own. Most text is ASCII.
func isOwnWord(r rune) bool { return r > unicode.MaxASCII && unicode.In(r, ownWords...) }

var markRemover = strings.NewReplacer(MarkStart, " ", MarkEnd, " ", "\x00", " ")

// separateWords puts a separator around characters that are words of their own, and removes the
// characters that mark words in snippets.
func separateWords(s string) string {
	s = markRemover.Replace(s)
	if !strings.ContainsFunc(s, isOwnWord) {
		return s
	}
	var b strings.Builder
	was := false
	for _, r := range s {
		is := isOwnWord(r)
		if is || was {
			b.WriteString(wordSeparator)
		}
		b.WriteRune(r)
		was = is
	}
	return b.String()
}

// isWord reports whether the index contains a character.
func isWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.Co) || r > unicode.MaxASCII && unicode.In(r, symbols...)
}

// terms converts a person's query to terms of the index: messages must have all the words, in any
// order, ignoring case and accents; words in double quotes in that order. The last word may be a
// prefix if it has three letters or more. The result is empty if the query contains no word.
func terms(query string) (terms []string) {
	for i, part := range strings.Split(query, `"`) {
		words := strings.Fields(part)
		quoted := i%2 == 1
		if quoted {
			words = []string{part}
		}
		for _, w := range words {
			if !strings.ContainsFunc(w, isWord) {
				continue
			}
			terms = append(terms, `"`+strings.ReplaceAll(separateWords(w), wordSeparator, " ")+`"`)
			if !quoted && utf8.RuneCountInString(w) >= 3 && strings.HasSuffix(query, w) {
				terms[len(terms)-1] += " *"
			}
		}
	}
	return terms
}

// Searchable reports whether a query contains anything to search for.
func Searchable(query string) bool { return len(terms(query)) > 0 }

// chatWord matches a word that could be one of those that stand for sessions, or a prefix of one: a
// k and hexadecimal digits, as the index sees them, which ignores case and accents.
var chatWord = regexp.MustCompile(`(?:^|[^\pL\pN\pM])[kķǩḱḳḵ](?:[0-9a-f]|[^\x00-\x7f])*(?:$|[^\pL\pN\pM])`)

// textTerms is terms for the texts only. The index takes twice as long when it is restricted to one
// column, so this is done only if a word could occur in the other one.
func textTerms(query string) []string {
	list := terms(query)
	if chatWord.MatchString(strings.ToLower(query)) {
		for i, t := range list {
			list[i] = "text : " + t
		}
	}
	return list
}

// Found is a message that a search found.
type Found struct {
	ID        int64 // a later page starts before it
	Key       protocol.SessionKey
	SessionID protocol.SessionID
	Current   bool   // it belongs to the current session ID
	Title     string // the session's label, else its automatic title, else its first words
	JSON      string // the message
	Snippet   string // the text around the words, which are between MarkStart and MarkEnd
}

// The characters around the found words in a snippet. No text contains them.
const (
	MarkStart = "\x02"
	MarkEnd   = "\x03"
)

// searchTimeLimit is the time after which a search in a large store returns its results so far,
// which may be none.
const searchTimeLimit = 30 * time.Millisecond

// SetTimeLimit sets the time after which a search returns its results so far; 0 means no limit.
// Open sets it for a large store. Call it before the first search.
func (s *Search) SetTimeLimit(d time.Duration) { s.timeLimit = d }

// largeStore is the size of a store, in bytes, above which a search may take longer than patience.
const largeStore = 64 << 20

// TextTime returns the time of the texts with an ID, in Unix milliseconds.
func TextTime(id int64) int64 { return id / idsPerMilli }

// Messages returns messages of sessions that are not deleted, newest first: at most limit, with IDs
// below before (0 means the newest), at or after from and before until (Unix milliseconds, 0 means
// any). A key restricts it to one session. next is the before of the next page, 0 when the search
// is complete. A page may have fewer than limit messages, or none, and still have a next page: in a
// large store a search returns its results so far after a while.
func (s *Search) Messages(ctx context.Context, query string, key protocol.SessionKey, from, until, before int64, limit int) (found []Found, next int64, err error) {
	list := textTerms(query)
	if len(list) == 0 {
		return nil, 0, nil
	}
	if key != "" {
		list = slices.Insert(list, 0, "chat : k"+strings.ToUpper(hex.EncodeToString([]byte(key))))
	}
	top := int64(1)<<62 - 1
	if until > 0 {
		top = min(until, top/idsPerMilli) * idsPerMilli
	}
	if before > 0 {
		top = min(top, before)
	}
	err = s.read(ctx, "search messages", func(db *gorm.DB) error {
		found, next, err = s.newestMatches(db, list, max(from, 0)*idsPerMilli, top, limit)
		if err != nil || len(found) == 0 {
			return err
		}
		found, err = withMessages(db, found)
		return err
	})
	return found, next, err
}

// newestMatches returns the IDs and snippets of the newest messages that match all terms.
func (s *Search) newestMatches(db *gorm.DB, terms []string, from, top int64, limit int) (found []Found, next int64, err error) {
	const snippet = `CASE WHEN EXISTS (SELECT 1 FROM message_texts t JOIN sessions s ON s.key = t.session_key WHERE t.id = message_search.rowid AND s.deleted_at = 0)
		THEN snippet(message_search, 1, '` + MarkStart + `', '` + MarkEnd + `', '…', 24) END`
	next, err = s.newest(db, snippet, terms, from, top, func(id int64, snippet string) bool {
		found = append(found, Found{ID: id, Snippet: strings.ReplaceAll(snippet, wordSeparator, "")})
		return len(found) < limit
	})
	return found, next, err
}

// newest calls take with an SQL value of each text that has all terms, newest first, until take
// returns false. next is where the search continues, 0 when it is complete.
func (s *Search) newest(db *gorm.DB, value string, terms []string, from, top int64, take func(id int64, value string) bool) (next int64, err error) {
	began := time.Now()
	rows, err := db.Raw("SELECT rowid, "+value+" FROM message_search WHERE message_search MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC",
		s.matchQuery(terms), from, top).Rows()
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() { // SQLite searches for each row when Next is called
		var id int64
		var value *string // nil: a time check, or a message of a deleted session
		if err := rows.Scan(&id, &value); err != nil {
			return 0, err
		}
		if value != nil && !take(id, *value) || s.isOverTime(began) {
			return id, nil
		}
	}
	return 0, rows.Err()
}

// withMessages adds the session and the message itself to the results. Messages that were deleted
// meanwhile are omitted.
func withMessages(db *gorm.DB, found []Found) (list []Found, err error) {
	ids := make([]int64, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	var all []Found
	if err := db.Raw(`SELECT t.id, t.session_key AS key, t.session_id, s.id = t.session_id AS current,
			coalesce(nullif(s.label, ''), nullif(s.auto_title, ''), s.first_text) AS title, m.json
		FROM message_texts t
		JOIN sessions s ON s.key = t.session_key
		JOIN messages m ON m.session_id = t.session_id AND m.seq = t.seq
		WHERE t.id IN ? ORDER BY t.id DESC`, ids).Scan(&all).Error; err != nil {
		return nil, err
	}
	for _, f := range found { // both are in the order from newest to oldest
		if len(all) > 0 && all[0].ID == f.ID {
			all[0].Snippet = f.Snippet
			list, all = append(list, all[0]), all[1:]
		}
	}
	return list, nil
}
