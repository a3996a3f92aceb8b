// Package diff creates unified diffs, which a person reads before allowing a change.
package diff

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/rogpeppe/go-internal/diff"
)

// context is the number of unchanged lines around a change.
const context = 3

// Diff is a change in the unified format, with the numbers of added and removed lines. Text is
// empty if nothing changes.
type Diff struct {
	Text           string
	Added, Removed int
}

// New compares two texts. It computes the diff with two libraries and returns the shorter result:
// one anchors on lines that are unique on both sides, which works for many changes but not for
// repeated lines; the other finds the fewest changes, but gives up on hundreds.
func New(from, to string, before, after []byte) Diff {
	old := string(before)
	// The edits were computed from old, so they always apply.
	text, _ := udiff.ToUnified(from, to, old, udiff.Lines(old, string(after)), context)
	fewest := count(text)
	_, text, _ = strings.Cut(string(diff.Diff(from, before, to, after)), "\n") // removes the line "diff from to", which is not part of a unified diff
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
		n++
		switch {
		case n <= 2: // the two lines with the names
		case line[0] == '+':
			d.Added++
		case line[0] == '-':
			d.Removed++
		}
	}
	return d
}
