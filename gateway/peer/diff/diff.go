// Package diff says what a change does to a text, as diff -u does: what a person reads before they allow it.
package diff

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/rogpeppe/go-internal/diff"
)

// context is how many lines around a change are shown.
const context = 3

// Diff is a change in the unified format, with the lines it adds and removes. Text is empty where nothing changes.
type Diff struct {
	Text           string
	Added, Removed int
}

// New compares two texts under their names. Of the ways that two libraries find, the shorter one counts: one goes by lines that stand once on each side, which
// finds its way through many changes and not where lines repeat; the other looks for the fewest changes, and gives up where there are hundreds.
func New(from, to string, before, after []byte) Diff {
	old := string(before)
	// The edits come from old, so they fit it.
	text, _ := udiff.ToUnified(from, to, old, udiff.Lines(old, string(after)), context)
	fewest := count(text)
	_, text, _ = strings.Cut(string(diff.Diff(from, before, to, after)), "\n") // "diff from to", which a unified diff does not have
	if anchored := count(text); anchored.size() < fewest.size() {
		return anchored
	}
	return fewest
}

func (d Diff) size() int { return d.Added + d.Removed }

func count(text string) Diff {
	d := Diff{Text: text}
	n := 0
	for line := range strings.Lines(text) {
		switch n++; {
		case n <= 2: // the two names
		case line[0] == '+':
			d.Added++
		case line[0] == '-':
			d.Removed++
		}
	}
	return d
}
