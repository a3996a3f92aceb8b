// Package selection lets a reader select and search text that spans several widgets, which Fyne
// cannot: its own selectable texts each have a selection of their own. A widget with text is a
// [Passage]; package transcript selects and searches across the passages of a chat.
package selection

import (
	"iter"
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
)

// Passage is a widget with text that can be selected and searched. Positions are in runes.
type Passage interface {
	fyne.CanvasObject
	// Selectable returns the text with its selection and its search results.
	Selectable() *Text
	// Index returns the text position nearest to a point, PositionOf the point of a text position.
	Index(at fyne.Position) int
	PositionOf(at int) fyne.Position
	// Slice returns a range of the text as it is copied.
	Slice(from, to int) string
}

// Text is the text of a passage, in parts (lines or paragraphs) that one rune separates.
type Text struct {
	From, To  int      // selection
	Hits      [][2]int // search results
	Current   int      // index in Hits; -1 means none
	Separator string   // between the previous passage and this one when both are copied

	owner Passage
	parts iter.Seq[string]
	query string
}

// NewText creates the text of a passage.
func NewText(owner Passage, parts iter.Seq[string]) *Text {
	return &Text{Current: -1, Separator: "\n\n", owner: owner, parts: parts}
}

// Runes returns the length of the text.
func (t *Text) Runes() int {
	n := 0
	for part := range t.parts {
		n += utf8.RuneCountInString(part) + 1
	}
	return max(n-1, 0)
}

// Slice returns a range of the text.
func (t *Text) Slice(from, to int) string {
	var b strings.Builder
	for part := range t.parts {
		b.WriteString(part + "\n")
	}
	text := []rune(strings.TrimSuffix(b.String(), "\n"))
	return string(text[min(from, len(text)):min(to, len(text))])
}

// PlainText returns the whole text as it is copied.
func (t *Text) PlainText() string { return t.owner.Slice(0, t.Runes()) }

// maxAccessible is the length in bytes from which reading aids get the beginning of a text only: they
// ask for it in every frame.
const maxAccessible = 4000

// AccessibleText returns the text for reading aids.
func (t *Text) AccessibleText() string {
	var b strings.Builder
	for part := range t.parts {
		if b.WriteString(part + "\n"); b.Len() > maxAccessible {
			break
		}
	}
	return strings.TrimSpace(b.String())
}

// Changed must be called when the parts have changed. It clears the selection and searches again.
func (t *Text) Changed() {
	t.From, t.To = 0, 0
	t.search()
	t.owner.Refresh()
}

// Select selects a range; none if from equals to.
func (t *Text) Select(from, to int) {
	if from, to = min(from, to), max(from, to); t.From != from || t.To != to {
		t.From, t.To = from, to
		t.owner.Refresh()
	}
}

// Word returns the word at a position, or the whole part.
func (t *Text) Word(at int, whole bool) (from, to int) {
	off := 0
	for part := range t.parts {
		text := []rune(part)
		if at <= off+len(text) {
			if whole {
				return off, off + len(text)
			}
			a, z := wordAround(text, at-off)
			return off + a, off + z
		}
		off += len(text) + 1
	}
	return at, at
}

// Find highlights all occurrences of a text, ignoring case, and returns their number.
func (t *Text) Find(query string) int {
	if query != t.query {
		t.query = query
		t.search()
		t.owner.Refresh()
	}
	return len(t.Hits)
}

func (t *Text) search() {
	t.Hits = nil
	if t.query == "" {
		return
	}
	off, query := 0, lower(t.query)
	for text := range t.parts {
		for _, h := range matchRunes(text, query) {
			t.Hits = append(t.Hits, [2]int{off + h[0], off + h[1]})
		}
		off += utf8.RuneCountInString(text) + 1
	}
}

// ShowHit highlights a search result as the current one, and returns its position, or -1.
func (t *Text) ShowHit(hit int) fyne.Position {
	if t.Current != hit {
		t.Current = hit
		t.owner.Refresh()
	}
	if hit < 0 || hit >= len(t.Hits) {
		return fyne.Position{}
	}
	return t.owner.PositionOf(t.Hits[hit][0])
}
