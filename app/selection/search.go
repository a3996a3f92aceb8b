package selection

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// Count returns how often a text contains another, ignoring case, with the same rules as passages.
// It may be called on any goroutine.
func Count(text, query string) int {
	n := 0
	for range matches(text, lower(query)) {
		n++
	}
	return n
}

// matches yields the byte ranges of the occurrences of a lower-case query, one after another.
func matches(text string, query []rune) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		if len(query) == 0 {
			return
		}
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			if unicode.ToLower(r) == query[0] {
				if length := matchLength(text[i:], query); length > 0 {
					if !yield(i, i+length) {
						return
					}
					n = length
				}
			}
			i += n
		}
	}
}

// matchLength returns the length in bytes of the query at the beginning of a text; 0 if it is not
// there.
func matchLength(text string, query []rune) int {
	at := 0
	for _, want := range query {
		r, n := utf8.DecodeRuneInString(text[at:])
		if n == 0 || unicode.ToLower(r) != want {
			return 0
		}
		at += n
	}
	return at
}

// matchRunes returns the rune ranges of the occurrences of a lower-case query.
func matchRunes(text string, query []rune) [][2]int {
	var hits [][2]int
	at, runes := 0, 0
	for from, to := range matches(text, query) {
		runes += utf8.RuneCountInString(text[at:from])
		hits = append(hits, [2]int{runes, runes + len(query)})
		at, runes = to, runes+len(query)
	}
	return hits
}

func lower(s string) []rune {
	r := []rune(s)
	for i := range r {
		r[i] = unicode.ToLower(r[i])
	}
	return r
}
