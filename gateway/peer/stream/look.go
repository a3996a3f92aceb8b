package stream

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Look returns a name as it looks: composed, with plain blanks, quotes and dashes, and without
// invisible characters.
func Look(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
			return ' '
		case unicode.Is(unicode.Cf, r):
			return -1
		case unicode.Is(unicode.Pd, r):
			return '-'
		case strings.ContainsRune("‘’‚‛′", r):
			return '\''
		case strings.ContainsRune("“”„‟″", r):
			return '"'
		}
		return r
	}, norm.NFC.String(name))
}

// LookAlikeHint returns what follows the failure that a file does not exist, and names the path that
// looks the same.
func LookAlikeHint(path string) string {
	return ". A name there looks the same, but has other characters. Use this path, written as a JSON string: " + strconv.QuoteToASCII(path)
}
