package store

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"
)

// maxSigns is the number of texts that one search scans for signs, which the index does not
// contain; this takes a few tens of milliseconds.
const maxSigns = 8000

// around is the number of bytes in a snippet on either side of a sign.
const around = 80

// signs returns the signs that a query without a word searches for: emoji and others, all of which
// a message must have. Variants of an emoji are ignored, and so are signs that are on every
// keyboard.
func signs(query string) []string {
	if len(terms(query)) > 0 {
		return nil
	}
	list := strings.FieldsFunc(query, func(r rune) bool {
		return r == '"' || r == '\uFE0F' || r == '\uFE0E' || unicode.IsSpace(r) || unicode.IsControl(r)
	})
	return slices.DeleteFunc(list, func(s string) bool {
		return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII && unicode.IsSymbol(r) }) < 0
	})
}

// withSigns returns the newest texts that have all the signs, as newest does for words. It scans
// maxSigns texts of the given time.
func withSigns(db *gorm.DB, signs []string, key string, from, top int64, limit int) (found []Found, next int64, err error) {
	if err := db.Raw("SELECT id FROM message_texts WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ?", from, top, maxSigns).Scan(&next).Error; err != nil {
		return nil, 0, err
	}
	if next > 0 {
		next++
	}
	q := db.Table("message_texts t").Select("t.id, t.words").Joins("JOIN sessions s ON s.key = t.session_key AND s.deleted_at = 0").
		Where("t.id >= ? AND t.id < ?", max(from, next), top)
	if key != "" {
		q = q.Where("t.session_key = ?", key)
	}
	for _, s := range signs {
		q = q.Where("instr(t.words, ?) > 0", s)
	}
	var texts []textRow
	if err := q.Order("t.id DESC").Limit(limit).Find(&texts).Error; err != nil {
		return nil, 0, err
	}
	for _, t := range texts {
		if found = append(found, Found{ID: t.ID, Snippet: excerpt(t.Words, signs)}); len(found) == limit {
			next = t.ID
		}
	}
	return found, next, nil
}

// excerpt returns the text around the first of the signs, with all of them marked.
func excerpt(text string, signs []string) string {
	text = strings.ReplaceAll(text, between, "")
	at := strings.Index(text, signs[0])
	begin, end := max(at-around, 0), min(at+len(signs[0])+around, len(text))
	for begin > 0 && !utf8.RuneStart(text[begin]) {
		begin--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	out := text[begin:end]
	for _, s := range slices.Compact(slices.Sorted(slices.Values(signs))) {
		out = strings.ReplaceAll(out, s, MarkStart+s+MarkEnd)
	}
	if begin > 0 {
		out = "…" + out
	}
	if end < len(text) {
		out += "…"
	}
	return out
}
