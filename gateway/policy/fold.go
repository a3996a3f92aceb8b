package policy

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// folded reports whether fold would not change a text, which is true for most paths.
func folded(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= utf8.RuneSelf, c >= 'A' && c <= 'Z', c == ':':
			return false
		case (c == '.' || c == ' ') && (i+1 == len(s) || s[i+1] == '/'):
			return false
		}
	}
	return true
}

// fold maps paths that a file system may treat as equal to the same text: it ignores letter case
// and all forms of accents (APFS, HFS+), and the parts that Windows drops at the end of a name:
// dots, blanks and the name of a stream. Only ask and deny rules use it.
func fold(s string) string {
	if folded(s) {
		return s
	}
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			s = norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
			break
		}
	}
	s = strings.ToLower(s)
	if !strings.Contains(s, "./") && !strings.Contains(s, " /") && !strings.Contains(s, "::$") && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, " ") {
		return s
	}
	parts := strings.Split(s, "/")
	for i, p := range parts {
		p = strings.TrimSuffix(p, "::$data")
		if plain := strings.TrimRight(p, ". "); plain != "" {
			parts[i] = plain
		}
	}
	return strings.Join(parts, "/")
}
