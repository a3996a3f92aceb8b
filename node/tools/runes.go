package tools

import (
	"bytes"
	"unicode/utf8"
)

// plausible reports whether text, which may end inside a character, begins as UTF-8.
func plausible(text []byte) bool {
	text = text[:min(len(text), sample)]
	return utf8.Valid(text) || utf8.Valid(text[:len(text)-partial(text)])
}

// partial returns the number of bytes at the end of text that may belong to the following bytes:
// the beginning of a character, or a carriage return.
func partial(text []byte) int {
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

// shown returns the first characters of a line as they are shown, without the carriage return at
// its end.
func shown(text []byte) string {
	text = bytes.TrimSuffix(text, []byte("\r"))
	end := 0
	for n := 0; n < maxLine && end < len(text); n++ {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	return string(text[:end])
}
