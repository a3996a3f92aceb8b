package store

import (
	"regexp"
	"strings"
	"unicode"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// maxCandidates is the number of search results that are checked against the filters one by one.
const maxCandidates = 5000

// searchFirst returns the query for the text search if it is faster to search first and then check
// the filters. It is empty if it is faster to use a filter's index and then check the words. The
// search index contains the filters' values too, as words anywhere in an entry, which narrows the
// results almost to the exact ones.
func searchFirst(db *gorm.DB, words string, q protocol.AuditListParams) (string, error) {
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
	if err := db.Raw("SELECT count(*) FROM (SELECT 1 FROM audit_search WHERE audit_search MATCH ? LIMIT ?)", words, maxCandidates).Scan(&n).Error; err != nil || n == maxCandidates {
		return "", err
	}
	return words, nil
}

// Words that are the same in the index's vocabulary, because the tokenizer does not change them.
var plainWord = regexp.MustCompile(`^[0-9A-Za-z]{4,}$`)

// maxTerms is the number of words with the same prefix that are listed one by one.
const maxTerms = 64

// auditQuery returns a query for the text search: every word, as a prefix. The index stores all
// prefixes of up to three letters. For a longer one, SQLite would merge the entries of all words
// with that prefix, which takes seconds if they are in every entry; so if there are only a few such
// words, the query lists them.
func auditQuery(db *gorm.DB, query string) (string, error) {
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
