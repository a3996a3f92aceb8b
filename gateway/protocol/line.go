package protocol

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes words that a machine, a device or somebody on a channel chose fit into one line, in which they can stand for nothing else: what is blank becomes
// one space between words, and nothing stays that cannot be seen, such as control characters and marks that turn the direction of what follows. The
// result has at most limit characters, the last one then an ellipsis; 0 is as many as there are.
func Line(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.Join(strings.Fields(s), " ")
	if limit > 0 && utf8.RuneCountInString(s) > limit {
		return string([]rune(s)[:limit-1]) + "…"
	}
	return s
}

// Capital begins a text with a capital letter, if its script has such.
func Capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// Plural is a number of things in words, of a word that takes an s: "1 step", "2 steps".
func Plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
