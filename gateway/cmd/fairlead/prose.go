package main

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	joiner    = '\u200D'
	nonJoiner = '\u200C'
)

// joining are the scripts in which a joiner between two letters changes their form.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
}

// filterText is clean for text that is only read: joiners stay where they combine several emoji or
// spell a word. Elsewhere they could hide something, so they are shown.
func filterText(s string) string {
	var f joinFilter
	return f.add(s) + f.flush()
}

// joinFilter applies prose to text that arrives in pieces.
type joinFilter struct {
	before  rune
	pending string // a joiner at the end, until the next character is known
}

func (f *joinFilter) add(s string) string {
	s = f.pending + s
	f.pending = ""
	if !strings.ContainsAny(s, string([]rune{joiner, nonJoiner})) {
		if s != "" {
			f.before, _ = utf8.DecodeLastRuneInString(s)
		}
		return clean(s)
	}
	var b strings.Builder
	for i, r := range s {
		if r != joiner && r != nonJoiner {
			b.WriteString(clean(string(r)))
			f.before = r
			continue
		}
		size := utf8.RuneLen(r)
		if i+size == len(s) {
			f.pending = string(r)
			break
		}
		if after, _ := utf8.DecodeRuneInString(s[i+size:]); joins(f.before, r, after) {
			b.WriteRune(r)
		} else {
			b.WriteString(clean(string(r)))
		}
		f.before = r
	}
	return b.String()
}

// flush returns the text that was held back. The next piece begins another text.
func (f *joinFilter) flush() string {
	rest := clean(f.pending)
	*f = joinFilter{}
	return rest
}

func joins(before, r, after rune) bool {
	emoji := unicode.Is(unicode.So, before) || unicode.Is(unicode.Sk, before) && before > unicode.MaxLatin1 || before == '\uFE0F'
	return r == joiner && emoji && isEmojiAfter(after) || unicode.In(before, joining...) && unicode.In(after, joining...)
}

// isEmojiAfter reports whether r may follow a joiner in an emoji: ♀ ⚕ 👩 are symbols, the ↔ of a
// shaking head is a mathematical one.
func isEmojiAfter(r rune) bool { return unicode.In(r, unicode.So, unicode.Sm) && r > unicode.MaxLatin1 }
