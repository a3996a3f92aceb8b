package store

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gorm.io/gorm"
)

// maxSigns is how many texts are looked through for signs at once, which the index does not have; a few tens of milliseconds.
const maxSigns = 8000

// around is how many bytes a snippet has on either side of a sign.
const around = 80

// signs are what a query without a word looks for: emoji and other signs, each of which a message must have. The variant of an emoji is not
// regarded, and no sign that is on every keyboard.
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

// withSigns finds the newest texts that have all the signs, as newest does for words. maxSigns texts of the given time are looked at.
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

// excerpt is the text around the first of the signs, with all of them marked.
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
