package workspace

import (
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"
)

// A file's name consists of bytes, but people and models exchange text. A name that is not UTF-8 is
// therefore spelled with each invalid byte as \xHH, with two capital hexadecimal digits, as in
// bash's $'\xE9'. So that no other name has the same spelling, a name that contains such a sequence
// has \x5C for its backslash. On Windows, where a backslash separates folders and a name may
// contain half a surrogate pair, the form is <HH>, which no name there can contain. Every name has
// exactly one spelling, and valid text without such sequences is spelled unchanged.

// Spell returns a name or path of this system as text.
func Spell(name string) string { return spell(runtime.GOOS, name) }

// Unspell returns the name or path that text stands for. An escape of a byte that needs none stands
// for itself: a file has one spelling, so that whoever judges a path by its text judges the file
// that will be opened.
func Unspell(text string) string { return unspell(runtime.GOOS, text) }

func spell(goos, name string) string {
	if utf8.ValidString(name) && (goos == "windows" || !strings.Contains(name, `\x`)) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, escapeFormat(goos), name[i])
		case goos != "windows" && decodeEscape(goos, name[i:]) != 0:
			fmt.Fprintf(&b, escapeFormat(goos), '\\')
		default:
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	return b.String()
}

func unspell(goos, text string) string {
	mark := `\x`
	if goos == "windows" {
		mark = "<"
	}
	if !strings.Contains(text, mark) || !utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if c := decodeEscape(goos, text[i:]); c != 0 {
			b.WriteByte(c)
			i += len(`\xHH`)
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	if name := b.String(); spell(goos, name) == text {
		return name
	}
	return text
}

// escapeFormat returns the format of an escaped byte, for package fmt.
func escapeFormat(goos string) string {
	if goos == "windows" {
		return "<%02X>"
	}
	return `\x%02X`
}

// decodeEscape returns the byte that an escape at the start of text stands for; 0: none.
func decodeEscape(goos, text string) byte {
	if len(text) < len(`\xHH`) {
		return 0
	}
	var high, low byte
	if goos == "windows" {
		if text[0] != '<' || text[3] != '>' {
			return 0
		}
		high, low = digit(text[1]), digit(text[2])
	} else {
		if text[:2] != `\x` {
			return 0
		}
		high, low = digit(text[2]), digit(text[3])
	}
	c := high<<4 | low
	if high > 15 || low > 15 || c < utf8.RuneSelf && (c != '\\' || goos == "windows") {
		return 0
	}
	return c
}

// digit returns the value of a capital hexadecimal digit; more than 15 for anything else.
func digit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
