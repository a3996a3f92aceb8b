package catalog

import (
	"fmt"
	"strconv"
	"strings"
)

// unescape resolves the escape sequences of C: \n, \t, \r, \a, \b, \e, \f, \v, \\, \", \', \0 to
// \377, \xHH, \uHHHH and \UHHHHHHHH.
func unescape(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		i++
		if i == len(text) {
			return "", fmt.Errorf("input ends with a backslash: write \\\\ for a backslash, or set raw")
		}
		n, err := unescapeOne(&b, text[i:])
		if err != nil {
			return "", err
		}
		i += n - 1
	}
	return b.String(), nil
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'e': 0x1b, 'f': '\f', 'v': '\v', '\\': '\\', '"': '"', '\'': '\'', '?': '?'}

// unescapeOne writes the character of the sequence that begins text, after its backslash, and
// returns its length.
func unescapeOne(b *strings.Builder, text string) (n int, err error) {
	c := text[0]
	digits, base := 0, 16
	switch {
	case c == 'x':
		digits = 2
	case c == 'u':
		digits = 4
	case c == 'U':
		digits = 8
	case c >= '0' && c <= '7':
		digits, base = 3, 8
	default:
		if e, ok := escapes[c]; ok {
			b.WriteByte(e)
			return 1, nil
		}
		return 0, fmt.Errorf("input has an unknown escape sequence \\%c: write \\\\ for a backslash, or set raw", c)
	}
	from := 1
	if base == 8 {
		from = 0
	}
	end := from
	for end < len(text) && end < from+digits && strings.IndexByte("0123456789abcdefABCDEF"[:map[int]int{8: 8, 16: 22}[base]], text[end]) >= 0 {
		end++
	}
	v, err := strconv.ParseUint(text[from:end], base, 32)
	if err != nil || (c == 'u' || c == 'U') && end-from < digits || base == 8 && v > 0xff {
		return 0, fmt.Errorf("input has an incomplete escape sequence \\%c: write \\\\ for a backslash, or set raw", c)
	}
	if c == 'u' || c == 'U' {
		b.WriteRune(rune(v))
	} else {
		b.WriteByte(byte(v))
	}
	return end, nil
}
