package state

import (
	"fmt"
	"path"
	"strings"
	"unicode"
)

// Shown is a file's name or path as it is read on a line in which it can stand for nothing else: control characters, line breaks and marks that turn the
// direction of what follows are written as ⟨U+202E⟩. What emoji and scripts are joined with stays.
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

// Title is its name as it is read.
func (e FileEntry) Title() string { return Shown(path.Base(e.Path)) }
