package markdown

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"fairlead/app/selection"
)

// text returns a paragraph's text, without its bullet.
func (q *paragraph) text() string {
	var b strings.Builder
	for _, r := range q.runs {
		b.WriteString(r.Text)
	}
	return b.String()
}

// texts yields the texts of the paragraphs.
func (p *RichText) texts(yield func(string) bool) {
	for i := range p.paragraphs {
		if !yield(p.paragraphs[i].text()) {
			return
		}
	}
}

// PlainText returns the whole text as it is copied.
func (p *RichText) PlainText() string { return p.Slice(0, p.Runes()) }

// Runes returns the length of the text, including one rune between paragraphs.
func (p *RichText) Runes() int {
	n := 0
	for text := range p.texts {
		n += utf8.RuneCountInString(text) + 1
	}
	return max(n-1, 0)
}

// Index returns the text position nearest to a point.
func (p *RichText) Index(at fyne.Position) int {
	p.layOut(p.Size().Width)
	for i := range p.placed {
		l := &p.placed[i]
		if at.Y < l.y+l.text.Height || i == len(p.placed)-1 {
			return l.offset + l.text.Index(at.X-l.left, at.Y-l.y, p.textWidth(l))
		}
	}
	return 0
}

// Select selects a range; none if from equals to.
func (p *RichText) Select(from, to int) {
	if p.Highlights.Select(from, to) {
		p.Refresh()
	}
}

// Slice returns a range of the text as it is copied: with bullets, numbers and line breaks between
// paragraphs.
func (p *RichText) Slice(from, to int) string {
	var b strings.Builder
	off := 0
	for i := range p.paragraphs {
		q := &p.paragraphs[i]
		text := []rune(q.text())
		a, z := max(from-off, 0), min(to-off, len(text))
		if a <= z && to > off && from <= off+len(text) {
			if b.Len() > 0 {
				b.WriteString(q.separator)
			}
			if a == 0 && q.bullet != "" {
				b.WriteString(strings.Repeat("  ", int(max(q.indent-20, 0)/20)) + q.bullet + " ")
			}
			b.WriteString(string(text[a:z]))
		}
		off += len(text) + 1
	}
	return b.String()
}

// Separator implements [selection.Passage].
func (p *RichText) Separator() string { return p.separator }

// Word returns the word at a position, or the paragraph.
func (p *RichText) Word(at int, whole bool) (from, to int) {
	return selection.WordAt(p.texts, at, whole)
}

// Find highlights all occurrences of a text, ignoring case, and returns their number.
func (p *RichText) Find(query string) int {
	if p.Highlights.Find(query, p.texts) {
		p.Refresh()
	}
	return len(p.Highlights.Hits)
}

// ShowHit implements [selection.Passage].
func (p *RichText) ShowHit(hit int) fyne.Position {
	changed, first, ok := p.Highlights.ShowHit(hit)
	if changed {
		p.Refresh()
	}
	if !ok {
		return fyne.Position{}
	}
	p.layOut(p.Size().Width)
	for i := range p.placed {
		l := &p.placed[i]
		if at := first - l.offset; at >= 0 && at < l.text.Runes() {
			for _, b := range l.text.Boxes(at, at+1, p.textWidth(l)) {
				return fyne.NewPos(l.left+b.X, l.y+b.Y)
			}
		}
	}
	return fyne.Position{}
}
