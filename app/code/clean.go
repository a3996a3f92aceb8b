package code

import (
	"strings"
	"unicode/utf8"
)

// CleanOutput makes the output of a program displayable: it removes escape sequences, applies
// carriage returns, expands tabs, and replaces invalid UTF-8 and other control characters with �.
func CleanOutput(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f || r == utf8.RuneError }) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	b := make([]byte, 0, len(s))
	lineStart, col := 0, 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == 0x1b:
			i += escapeLen(s[i:])
			continue
		case r == '\n':
			b = append(b, '\n')
			lineStart, col = len(b), 0
		case r == '\r':
			if rest := s[i+1:]; rest != "" && rest[0] != '\n' {
				b, col = b[:lineStart], 0
			}
		case r == '\t':
			pad := 4 - col%4
			b = append(b, "    "[:pad]...)
			col += pad
		case r == '\b':
		case r < ' ' || r == 0x7f || r == utf8.RuneError:
			b = utf8.AppendRune(b, utf8.RuneError)
			col++
		default:
			b = utf8.AppendRune(b, r)
			col++
		}
		i += n
	}
	return string(b)
}

// escapeLen returns the length of the terminal escape sequence at the beginning of s.
func escapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[': // CSI: parameters, then a letter
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']': // OSC: up to BEL or ESC \
		for i := 2; i < len(s); i++ {
			if s[i] == 7 {
				return i + 1
			}
			if s[i] == 0x1b {
				return min(i+2, len(s))
			}
		}
		return len(s)
	}
	return 2
}
