package widgets

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// Passage is text that can be marked and searched, such as a paragraph, a cell of a table or a block of code. Places in it count runes.
type Passage interface {
	fyne.CanvasObject
	Runes() int
	// Index is the place that is nearest to a point.
	Index(at fyne.Position) int
	// Select marks a part; nothing when from is to.
	Select(from, to int)
	Slice(from, to int) string
	// Word is the word at a place, or the whole paragraph or line.
	Word(at int, whole bool) (from, to int)
	// Find marks where a text occurs, in whatever case, and says how often it does.
	Find(query string) int
	// Current marks one of the places that Find found among the others, and says where it begins; -1 marks none.
	Current(hit int) fyne.Position
	// Lead is what stands between it and the passage before it when both are copied.
	Lead() string
}

// presses counts presses of the mouse at one place.
type presses struct {
	last  time.Time
	at    int
	times int
}

// againTime is how soon a second press must follow to belong to the first.
const againTime = 400 * time.Millisecond

// count is the how manieth press this is, of three.
func (p *presses) count(at int, now time.Time) int {
	if now.Sub(p.last) < againTime && max(at-p.at, p.at-at) <= 1 {
		p.times = p.times%3 + 1
	} else {
		p.times = 1
	}
	p.last, p.at = now, at
	return p.times
}

// primary reports whether an event is about the first button.
func primary(e *desktop.MouseEvent) bool { return e.Button == desktop.MouseButtonPrimary }
