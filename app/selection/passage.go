package selection

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// Passage is text that can be selected and searched, such as a paragraph, a table cell or a code
// block. Positions are in runes.
type Passage interface {
	fyne.CanvasObject
	Runes() int
	// Index returns the position nearest to a point.
	Index(at fyne.Position) int
	// Select selects a range; none if from equals to.
	Select(from, to int)
	Slice(from, to int) string
	// Word returns the word at a position, or the whole paragraph or line.
	Word(at int, whole bool) (from, to int)
	// Find highlights all occurrences of a text, ignoring case, and returns their number.
	Find(query string) int
	// ShowHit highlights one of the occurrences that Find found, and returns its position; -1
	// highlights none.
	ShowHit(hit int) fyne.Position
	// Separator returns the text between the previous passage and this one when both are copied.
	Separator() string
}

// ClickCounter counts successive mouse presses at one position.
type ClickCounter struct {
	last  time.Time
	at    int
	times int
}

// doubleClickTime is the maximum time between presses of a double or triple click.
const doubleClickTime = 400 * time.Millisecond

// Count returns the number of this press, from one to three.
func (p *ClickCounter) Count(at int, now time.Time) int {
	if now.Sub(p.last) < doubleClickTime && max(at-p.at, p.at-at) <= 1 {
		p.times = p.times%3 + 1
	} else {
		p.times = 1
	}
	p.last, p.at = now, at
	return p.times
}

// IsPrimary reports whether an event is of the primary button.
func IsPrimary(e *desktop.MouseEvent) bool { return e.Button == desktop.MouseButtonPrimary }
