package store

import (
	"regexp"
	"strings"
	"unicode"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// few is how many lines that the search finds are looked at one by one for what else they must be.
const few = 5000

// foundFirst is the query of the search that leads to the lines, and then they are looked at for the filters; empty when the lines are better found by
// the index of a filter and looked at for the words. The search knows the filters' values too, as words anywhere in a line: that narrows it to little
// more than what is wanted.
func foundFirst(db *gorm.DB, words string, q protocol.AuditListParams) (string, error) {
	filtered := false
	for _, value := range []string{string(q.Node), string(q.SessionKey), q.Rule, q.Kind} {
		filtered = filtered || value != ""
		if strings.ContainsFunc(value, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			words += ` AND "` + strings.ReplaceAll(value, `"`, " ") + `"`
		}
	}
	if !filtered {
		return words, nil
	}
	var n int64
	if err := db.Raw("SELECT count(*) FROM (SELECT 1 FROM audit_search WHERE audit_search MATCH ? LIMIT ?)", words, few).Scan(&n).Error; err != nil || n == few {
		return "", err
	}
	return words, nil
}

// Words that are known by the index's own list of words: those that it does not write otherwise.
var plainWord = regexp.MustCompile(`^[0-9A-Za-z]{4,}$`)

// maxTerms is how many words that begin alike are named one by one.
const maxTerms = 64

// auditWords is a query of the search: every word, as the beginning of one. Of three letters and fewer the index knows all beginnings. For a longer
// one it would merge the lines of all words that begin so, which takes seconds when it is in every line; so they are named where they are few.
func auditWords(db *gorm.DB, query string) (string, error) {
	var out []string
	for _, w := range strings.FieldsFunc(query, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }) {
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
	return strings.Join(out, " AND "), nil
}
