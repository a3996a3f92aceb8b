package state

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

// Shown returns an unambiguous form of a file's name or path for one line: control characters, line
// breaks and direction marks are written as ⟨U+202E⟩. Joiners that emoji and scripts need are
// retained.
func Shown(name string) string {
	if !strings.ContainsFunc(name, turning) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if turning(r) {
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func turning(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// Title returns the entry's name in that form.
func (e FileEntry) Title() string { return Shown(path.Base(e.Path)) }
