package textfile

import (
	"bytes"
	"unicode/utf8"
)

// Incomplete returns the number of bytes at the end of text that may belong to the following bytes:
// the beginning of a character, or a carriage return.
func Incomplete(text []byte) int {
	if bytes.HasSuffix(text, []byte("\r")) {
		return 1
	}
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if b := text[len(text)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return i
			}
			return 0
		}
	}
	return 0
}
