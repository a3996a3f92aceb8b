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
		if small, ok := ascii(query); ok {
			matchesASCII(text, small, yield)
			return
		}
		for i := 0; i < len(text); {
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

func ascii(query []rune) ([]byte, bool) {
	b := make([]byte, len(query))
	for i, r := range query {
		if r >= utf8.RuneSelf {
			return nil, false
		}
		b[i] = byte(r)
	}
	return b, true
}

func matchesASCII(text string, query []byte, yield func(int, int) bool) {
	small, large := query[0], query[0]
	if small >= 'a' && small <= 'z' {
		large -= 'a' - 'A'
	}
	for i := 0; i+len(query) <= len(text); i++ {
		if c := text[i]; c != small && c != large {
			continue
		}
		k := 1
		for k < len(query) {
			c := text[i+k]
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != query[k] {
				break
			}
			k++
		}
		if k == len(query) {
			if !yield(i, i+k) {
				return
			}
			i += k - 1
		}
	}
}

// matchLength returns the length in bytes of the query at the beginning of a text; 0 if it is not there.
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
