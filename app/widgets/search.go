package widgets

import (
	"iter"
	"unicode"
	"unicode/utf8"
)

// Count is how often a text holds another in whatever case, as passages find it. It may be called on any goroutine.
func Count(text, query string) int {
	n := 0
	for range places(text, folded(query)) {
		n++
	}
	return n
}

// places are the bytes from which to which a text holds a query whose letters are small ones, one after another.
func places(text string, query []rune) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		if len(query) == 0 {
			return
		}
		if small, ok := ascii(query); ok {
			placesOfASCII(text, small, yield)
			return
		}
		for i := 0; i < len(text); {
			if n := fits(text[i:], query); n > 0 {
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

func placesOfASCII(text string, query []byte, yield func(int, int) bool) {
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

// fits is how many bytes of a text's beginning are the query; 0 is none.
func fits(text string, query []rune) int {
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

// occurrences are the places, in runes, at which a text holds a query whose letters are small ones.
func occurrences(text string, query []rune) [][2]int {
	var hits [][2]int
	at, runes := 0, 0
	for from, to := range places(text, query) {
		runes += utf8.RuneCountInString(text[at:from])
		hits = append(hits, [2]int{runes, runes + len(query)})
		at, runes = to, runes+len(query)
	}
	return hits
}

func folded(s string) []rune {
	r := []rune(s)
	for i := range r {
		r[i] = unicode.ToLower(r[i])
	}
	return r
}
