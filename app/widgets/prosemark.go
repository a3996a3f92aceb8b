package widgets

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
)

// text returns a paragraph's text, without its bullet.
func (q *para) text() string {
	var b strings.Builder
	for _, r := range q.runs {
		b.WriteString(r.Text)
	}
	return b.String()
}

// texts yields the texts of the paragraphs.
func (p *Prose) texts(yield func(string) bool) {
	for i := range p.paras {
		if !yield(p.paras[i].text()) {
			return
		}
	}
}

// Words returns the whole text as it is copied.
func (p *Prose) Words() string { return p.Slice(0, p.Runes()) }

// Runes returns the length of the text, including one rune between paragraphs.
func (p *Prose) Runes() int {
	n := 0
	for text := range p.texts {
		n += utf8.RuneCountInString(text) + 1
	}
	return max(n-1, 0)
}

// Index returns the text position nearest to a point.
func (p *Prose) Index(at fyne.Position) int {
	p.lay(p.Size().Width)
	for i := range p.laid {
		l := &p.laid[i]
		if at.Y < l.y+l.text.Height || i == len(p.laid)-1 {
			return l.off + l.text.Index(at.X-l.left, at.Y-l.y, p.room(l))
		}
	}
	return 0
}

// Select selects a range; none if from equals to.
func (p *Prose) Select(from, to int) {
	if p.marks.mark(from, to) {
		p.Refresh()
	}
}

// Slice returns a range of the text as it is copied: with bullets, numbers and line breaks between
// paragraphs.
func (p *Prose) Slice(from, to int) string {
	var b strings.Builder
	off := 0
	for i := range p.paras {
		q := &p.paras[i]
		text := []rune(q.text())
		a, z := max(from-off, 0), min(to-off, len(text))
		if a <= z && to > off && from <= off+len(text) {
			if b.Len() > 0 {
				b.WriteString(q.apart)
			}
			if a == 0 && q.mark != "" {
				b.WriteString(strings.Repeat("  ", int(max(q.left-20, 0)/20)) + q.mark + " ")
			}
			b.WriteString(string(text[a:z]))
		}
		off += len(text) + 1
	}
	return b.String()
}

// Lead implements [Passage].
func (p *Prose) Lead() string { return p.lead }

// Word returns the word at a position, or the paragraph.
func (p *Prose) Word(at int, whole bool) (from, to int) { return wordIn(p.texts, at, whole) }

// Find highlights all occurrences of a text, ignoring case, and returns their number.
func (p *Prose) Find(query string) int {
	if p.marks.ask(query, p.texts) {
		p.Refresh()
	}
	return len(p.marks.hits)
}

// Current implements [Passage].
func (p *Prose) Current(hit int) fyne.Position {
	changed, first, ok := p.marks.show(hit)
	if changed {
		p.Refresh()
	}
	if !ok {
		return fyne.Position{}
	}
	p.lay(p.Size().Width)
	for i := range p.laid {
		l := &p.laid[i]
		if at := first - l.off; at >= 0 && at < l.text.Runes() {
			for _, b := range l.text.Boxes(at, at+1, p.room(l)) {
				return fyne.NewPos(l.left+b.X, l.y+b.Y)
			}
		}
	}
	return fyne.Position{}
}
