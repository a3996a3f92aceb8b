package policy

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// folded reports whether nothing about a text can change by folding: most paths are so.
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

// fold makes paths equal that some file system takes for the same: letter case and accents in any form (APFS, HFS+), and what Windows drops at the end
// of a name, dots, blanks and the name of a stream. It serves rules that hold something back.
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
