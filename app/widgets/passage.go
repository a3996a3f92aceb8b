package widgets

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
	// Current highlights one of the occurrences that Find found, and returns its position; -1
	// highlights none.
	Current(hit int) fyne.Position
	// Lead returns the text between the previous passage and this one when both are copied.
	Lead() string
}

// presses counts successive mouse presses at one position.
type presses struct {
	last  time.Time
	at    int
	times int
}

// againTime is the maximum time between presses of a double or triple click.
const againTime = 400 * time.Millisecond

// count returns the number of this press, from one to three.
func (p *presses) count(at int, now time.Time) int {
	if now.Sub(p.last) < againTime && max(at-p.at, p.at-at) <= 1 {
		p.times = p.times%3 + 1
	} else {
		p.times = 1
	}
	p.last, p.at = now, at
	return p.times
}

// primary reports whether an event is of the primary button.
func primary(e *desktop.MouseEvent) bool { return e.Button == desktop.MouseButtonPrimary }
