package protocol

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes text from a machine, a device or a channel user safe to display on one line, so that
// it cannot imitate anything else: white space becomes single spaces between words, and invisible
// characters such as control characters and bidirectional marks are removed. The result has at most
// limit characters, of which the last is an ellipsis if the text was cut; 0 means no limit.
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

// Capital returns the text with its first letter in upper case, if its script has cases.
func Capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// Plural returns a count with its noun, for nouns with a plural in s: "1 step", "2 steps".
func Plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
