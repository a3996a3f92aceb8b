package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// textRow is a message's text. The full-text index follows it by triggers.
type textRow struct {
	ID         int64 `gorm:"primaryKey;autoIncrement:false"` // its time, see perMilli
	SessionKey string
	SessionID  string
	Seq        int64
	Words      string
}

func (textRow) TableName() string { return "message_texts" }

// perMilli is how many ids a millisecond has; the last one is for a mark.
const perMilli = 1024

// maxSearchText is how many bytes of a message can be found by a search.
const maxSearchText = 64 << 10

// number gives texts their ids: the milliseconds in at, and a number among those of the same time.
func number(tx *gorm.DB, texts []textRow, at []int64) error {
	next := map[int64]int64{}
	for i := range texts {
		for first := max(at[i], 0) * perMilli; ; first += perMilli { // more at one time do not happen; the next millisecond would do
			id, known := next[first]
			if !known {
				if err := tx.Raw("SELECT coalesce(max(id) + 1, ?) FROM message_texts WHERE id BETWEEN ? AND ?", first, first, first+perMilli-2).Scan(&id).Error; err != nil {
					return err
				}
			}
			next[first] = id
			if id < first+perMilli-1 {
				texts[i].ID = id
				next[first]++
				break
			}
		}
	}
	return nil
}

// between separates what is written without spaces, so that the index has the characters as words. It has no width.
const between = "\u200b"

var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

var noMarks = strings.NewReplacer(MarkStart, " ", MarkEnd, " ", "\x00", " ")

// spaced puts a separator between the characters of scripts without spaces, and takes out what marks words in snippets.
func spaced(s string) string {
	s = noMarks.Replace(s)
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0x0e00 && unicode.In(r, unspaced...) }) < 0 {
		return s
	}
	var b strings.Builder
	was := false
	for _, r := range s {
		is := r >= 0x0e00 && unicode.In(r, unspaced...)
		if is || was {
			b.WriteString(between)
		}
		b.WriteRune(r)
		was = is
	}
	return b.String()
}

// terms turns what a person types into the terms of a query of the index: messages must have all the words, in any order, without regard to case and accents;
// words in double quotes in that order; the last word may be the beginning of one, when it has three letters or more. There are none when there is
// no word in it.
func terms(query string) (terms []string) {
	for i, part := range strings.Split(query, `"`) {
		words := strings.Fields(part)
		quoted := i%2 == 1
		if quoted {
			words = []string{part}
		}
		for _, w := range words {
			if strings.IndexFunc(w, func(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.Co) }) < 0 {
				continue
			}
			terms = append(terms, `"`+strings.ReplaceAll(spaced(w), between, " ")+`"`)
			if !quoted && utf8.RuneCountInString(w) >= 3 && strings.HasSuffix(query, w) {
				terms[len(terms)-1] += " *"
			}
		}
	}
	return terms
}

// Searchable reports whether there is anything in a query to look for: a word or a sign.
func Searchable(query string) bool { return len(terms(query)) > 0 || len(signs(query)) > 0 }

// chatWord is a word that could be one of those that stand for sessions, or the beginning of one: a k and hexadecimal digits, in the index's eyes, which
// sees neither case nor accents.
var chatWord = regexp.MustCompile(`(?:^|[^\pL\pN\pM])[kķǩḱḳḵ](?:[0-9a-f]|[^\x00-\x7f])*(?:$|[^\pL\pN\pM])`)

// inWords is terms for the texts alone. The index takes twice as long when it has to keep to one column, so that is only asked where a word could be
// found in the other one.
func inWords(query string) []string {
	list := terms(query)
	if chatWord.MatchString(strings.ToLower(query)) {
		for i, t := range list {
			list[i] = "words : " + t
		}
	}
	return list
}

// inChat is the term of a session.
func inChat(key protocol.SessionKey) string {
	return fmt.Sprintf("chat : k%s", strings.ToUpper(hex.EncodeToString([]byte(key))))
}

// Found is a message that a search found.
type Found struct {
	ID        int64 // a later page begins before it
	Key       protocol.SessionKey
	SessionID protocol.SessionID
	Current   bool   // it is of the session's present stretch
	Title     string // the session's label or first words
	JSON      string // the message
	Snippet   string // the text around the words, which stand between MarkStart and MarkEnd
}

// What stands around the words that were looked for in a snippet. No text has these characters.
const (
	MarkStart = "\x02"
	MarkEnd   = "\x03"
)

// patience is how long a search in a large store goes on before it answers with what it has, which may be nothing.
const patience = 30 * time.Millisecond

// SetPatience bounds how long a search goes on before it answers with what it has; 0 does not. Open sets it for a large store. Call it before the
// first search.
func (s *Store) SetPatience(d time.Duration) { s.patience = d }

// large is how many bytes a store has in which a search may take longer than that.
const large = 64 << 20

// TextTime is the time, in Unix milliseconds, of the texts of an id.
func TextTime(id int64) int64 { return id / perMilli }

// Search finds messages of sessions that are not deleted, newest first: at most limit, with ids below before (0 is the newest), at or after from and
// before until (Unix milliseconds, 0 is any). A key restricts it to one session. A query without a word looks for its signs, such as
// emoji. next is before of the page that follows, 0 when all is looked through. A page may have fewer than limit, and none, and still have one that
// follows: in a large store a search answers after a while with what it has.
func (s *Store) Search(ctx context.Context, query string, key protocol.SessionKey, from, until, before int64, limit int) (found []Found, next int64, err error) {
	list, marks := inWords(query), signs(query)
	if len(list) == 0 && len(marks) == 0 {
		return nil, 0, nil
	}
	if len(list) > 0 && key != "" {
		list = append([]string{inChat(key)}, list...)
	}
	top := int64(1)<<62 - 1
	if until > 0 {
		top = min(until, top/perMilli) * perMilli
	}
	if before > 0 {
		top = min(top, before)
	}
	err = s.read(ctx, "search messages", func(db *gorm.DB) error {
		if len(list) > 0 {
			found, next, err = s.newest(db, list, max(from, 0)*perMilli, top, limit)
		} else {
			found, next, err = withSigns(db, marks, string(key), max(from, 0)*perMilli, top, limit)
		}
		if err != nil || len(found) == 0 {
			return err
		}
		found, err = detailed(db, found)
		return err
	})
	return found, next, err
}

// newest finds the ids and snippets of the newest messages that match all terms. next is where the search goes on, 0 when it is at its end.
func (s *Store) newest(db *gorm.DB, terms []string, from, top int64, limit int) (found []Found, next int64, err error) {
	began := time.Now()
	rows, err := db.Raw(`SELECT rowid, CASE WHEN EXISTS (SELECT 1 FROM message_texts t JOIN sessions s ON s.key = t.session_key WHERE t.id = message_search.rowid AND s.deleted_at = 0)
			THEN snippet(message_search, 1, ?, ?, '…', 24) END
		FROM message_search WHERE message_search MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC`,
		MarkStart, MarkEnd, s.matching(terms), from, top).Rows()
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() { // each is found when it is asked for
		var id int64
		var snippet *string // none: a mark, or a message of a deleted session
		if err := rows.Scan(&id, &snippet); err != nil {
			return nil, 0, err
		}
		if snippet != nil {
			found = append(found, Found{ID: id, Snippet: strings.ReplaceAll(*snippet, between, "")})
		}
		if len(found) == limit || s.tired(began) {
			return found, id, nil
		}
	}
	return found, 0, rows.Err()
}

// detailed adds to what was found whose it is and the message itself. What was deleted meanwhile is left out.
func detailed(db *gorm.DB, found []Found) (list []Found, err error) {
	ids := make([]int64, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	var all []Found
	if err := db.Raw(`SELECT t.id, t.session_key AS key, t.session_id, s.id = t.session_id AS current,
			CASE s.label WHEN '' THEN s.first_text ELSE s.label END AS title, m.json
		FROM message_texts t
		JOIN sessions s ON s.key = t.session_key
		JOIN messages m ON m.session_id = t.session_id AND m.seq = t.seq
		WHERE t.id IN ? ORDER BY t.id DESC`, ids).Scan(&all).Error; err != nil {
		return nil, err
	}
	for _, f := range found { // both go from the newest to the oldest
		if len(all) > 0 && all[0].ID == f.ID {
			all[0].Snippet = f.Snippet
			list, all = append(list, all[0]), all[1:]
		}
	}
	return list, nil
}
