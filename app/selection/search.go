package selection

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// Count returns how often a text contains another, ignoring case. Any goroutine may call it.
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
		for i := 0; i < len(text) && len(query) > 0; {
			if n := matchLength(text[i:], query); n > 0 {
				if !yield(i, i+n) {
					return
				}
				i += n
				continue
			}
			_, n := utf8.DecodeRuneInString(text[i:])
			i += n
		}
	}
}

// matchLength returns the length in bytes of the query at the beginning of a text, or 0.
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

// wordAround returns the word that contains a position or ends there.
func wordAround(text []rune, at int) (from, to int) {
	at = min(max(at, 0), len(text))
	kind := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 3
	}
	if len(text) == 0 {
		return 0, 0
	}
	if at == len(text) || kind(text[at]) != 1 && at > 0 && kind(text[at-1]) == 1 {
		at--
	}
	k := kind(text[at])
	from, to = at, at+1
	if k == 3 {
		return from, to
	}
	for from > 0 && kind(text[from-1]) == k {
		from--
	}
	for to < len(text) && kind(text[to]) == k {
		to++
	}
	return from, to
}
