package policy

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"fairlead/gateway/policy/shell"
)

// isFolded reports whether fold would not change a text, which is true for most paths.
func isFolded(s string) bool {
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
	if isFolded(s) {
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

// shortName matches a short file name that Windows generates, such as PROGRA~1 or A1B2~3.TXT, with
// its separators.
var shortName = regexp.MustCompile(`(^|[/\\])[^/\\~. ]{1,7}~[0-9]{1,6}(\.[^/\\. ]{0,3})?([/\\]|$)`)

// expandShortNames replaces the short names in a word on a Windows machine by wildcards, because
// only the machine knows which files they mean.
func (p *pathResolver) expandShortNames(w shell.Word) shell.Word {
	if !drive(p.call.Cwd) || w.Dynamic {
		return w
	}
	for range maxFolders { // two adjacent ones share a separator
		wide := shortName.ReplaceAllString(w.Text, "${1}*${3}")
		if wide == w.Text {
			break
		}
		w.Text, w.Glob = wide, true
	}
	return w
}
