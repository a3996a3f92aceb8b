// Package diff creates unified diffs, which a person reads before allowing a change.
package diff

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"github.com/rogpeppe/go-internal/diff"

	"fairlead/gateway/protocol"
)

// context is the number of unchanged lines around a change.
const context = 3

// Limits of the diff of a file that a person reads.
const (
	// MaxQuestion and MaxPage are the sizes in bytes of a diff in a question, and on a page that a
	// person opens to read it.
	MaxQuestion = 64 << 10
	MaxPage     = 1 << 20
	// MaxFile and MaxLines bound each side, in bytes and lines: comparing more takes too long for a
	// question, and gigabytes of memory for millions of short lines.
	MaxFile  = 4 << 20
	MaxLines = 250_000
)

// NewFile is the old name of a file that a change creates; on every system, as in the diffs of git.
const NewFile = "/dev/null"

// Diff is a change in the unified format, with the numbers of added and removed lines. Text is
// empty if nothing changes.
type Diff struct {
	Text           string
	Added, Removed int
	IsCut          bool // Text is only the beginning
}

// OfFile compares the contents of a file. The text has at most most bytes, in whole lines if one
// fits. ok is false if a content cannot be compared; see [IsText].
func OfFile(from, to string, before, after []byte, most int) (d Diff, ok bool) {
	if !IsText(before) || !IsText(after) {
		return Diff{}, false
	}
	d = New(from, to, before, after)
	if len(d.Text) > most {
		d.Text, d.IsCut = d.Text[:most], true
		if i := strings.LastIndexByte(d.Text, '\n'); i >= 0 {
			d.Text = d.Text[:i+1]
		} else {
			d.Text = strings.ToValidUTF8(d.Text, "") // without the beginning of a character
		}
	}
	return d, true
}

// AddTo adds the change of a file to the preview of a call. The diffs of one preview together have at
// most [MaxQuestion] bytes; it is truncated if they do not show everything.
func AddTo(p *protocol.CallPreview, name string, isNew bool, before, after []byte) {
	from := name
	if isNew {
		from = NewFile
	}
	d, ok := OfFile(from, name, before, after, MaxQuestion-len(p.Diff))
	p.Diff, p.Added, p.Removed = p.Diff+d.Text, p.Added+d.Added, p.Removed+d.Removed
	p.Truncated = p.Truncated || d.IsCut || !ok
}

// IsText reports whether a file's content is text within [MaxFile] and [MaxLines].
func IsText(data []byte) bool {
	return len(data) <= MaxFile && bytes.Count(data, []byte("\n")) <= MaxLines && utf8.Valid(data)
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
