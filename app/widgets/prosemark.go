package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
)

// Words is all the text, as it is copied.
func (p *Prose) Words() string { return p.Slice(0, p.Runes()) }

// Runes is how long the text is, with a rune between paragraphs.
func (p *Prose) Runes() int {
	n := 0
	for i := range p.paras {
		for _, r := range p.paras[i].runs {
			n += len([]rune(r.Text))
		}
		n++
	}
	return max(n-1, 0)
}

// Index is the place in the text that is nearest to a point.
func (p *Prose) Index(at fyne.Position) int {
	p.lay(p.Size().Width)
	for i := range p.laid {
		l := &p.laid[i]
		if at.Y < l.y+l.text.Height || i == len(p.laid)-1 {
			return l.off + l.text.Index(at.X-l.left, at.Y-l.y, p.width-l.left)
		}
	}
	return 0
}

// Select marks a part of the text; nothing when from is to.
func (p *Prose) Select(from, to int) {
	if from > to {
		from, to = to, from
	}
	if p.from != from || p.to != to {
		p.from, p.to = from, to
		p.Refresh()
	}
}

// Slice is a part of the text as it is copied: with bullets, numbers and lines between paragraphs.
func (p *Prose) Slice(from, to int) string {
	var b strings.Builder
	off := 0
	for i := range p.paras {
		q := &p.paras[i]
		var text []rune
		for _, r := range q.runs {
			text = append(text, []rune(r.Text)...)
		}
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

// Word is the word at a place, or the paragraph.
func (p *Prose) Word(at int, whole bool) (from, to int) {
	off := 0
	for i := range p.paras {
		var text []rune
		for _, r := range p.paras[i].runs {
			text = append(text, []rune(r.Text)...)
		}
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

// Find marks where a text occurs, in whatever case, and says how often it does.
func (p *Prose) Find(query string) int {
	if query != p.query {
		p.query = query
		p.find()
		p.Refresh()
	}
	return len(p.hits)
}

// Current implements [Passage].
func (p *Prose) Current(hit int) fyne.Position {
	if p.current != hit {
		p.current = hit
		p.Refresh()
	}
	if hit < 0 || hit >= len(p.hits) {
		return fyne.Position{}
	}
	p.lay(p.Size().Width)
	for i := range p.laid {
		l := &p.laid[i]
		if at := p.hits[hit][0] - l.off; at >= 0 && at < l.text.Runes() {
			for _, b := range l.text.Boxes(at, at+1, p.width-l.left) {
				return fyne.NewPos(l.left+b.X, l.y+b.Y)
			}
		}
	}
	return fyne.Position{}
}

func (p *Prose) find() {
	p.hits = nil
	if p.query == "" {
		return
	}
	off := 0
	for i := range p.paras {
		var b strings.Builder
		for _, r := range p.paras[i].runs {
			b.WriteString(r.Text)
		}
		text := b.String()
		for _, h := range occurrences(text, p.query) {
			p.hits = append(p.hits, [2]int{off + h[0], off + h[1]})
		}
		off += len([]rune(text)) + 1
	}
}
