package typeset

import "slices"

// Box is a part of a line.
type Box struct{ X, Y, Width, Height float32 }

// Runes returns the length of the text.
func (t *Text) Runes() int { return len(t.runes) }

// IsRightToLeft reports whether a line is right-to-left.
func (t *Text) IsRightToLeft() bool {
	return slices.ContainsFunc(t.lines, func(l line) bool { return l.rtl })
}

// startOffset returns the start of a line: right-to-left lines are aligned to the right.
func (l *line) startOffset(width float32) float32 {
	if !l.rtl || width <= 0 {
		return 0
	}
	total := float32(0)
	for _, p := range l.parts {
		total += p.width
	}
	return max(width-total, 0)
}

// Index returns the text position, in runes, nearest to a point in a text of the given width.
func (t *Text) Index(x, y, width float32) int {
	if len(t.lines) == 0 || y < 0 {
		return 0
	}
	for i := range t.lines {
		l := &t.lines[i]
		if y < l.y+l.height {
			return l.index(x - l.startOffset(width))
		}
	}
	return len(t.runes)
}

func (l *line) index(x float32) int {
	before, after := l.from, l.to
	if l.rtl {
		before, after = after, before
	}
	if len(l.parts) == 0 || x < 0 {
		return before
	}
	for i := range l.parts {
		p := &l.parts[i]
		if x >= p.x+p.width {
			continue
		}
		for at := p.from; at < p.to; at++ {
			a, b := p.edge(at), p.edge(at+1)
			if p.rtl {
				a, b = b, a
			}
			if at := at; x-p.x >= a && x-p.x < b {
				if (x-p.x-a > (b-a)/2) != p.rtl {
					at++
				}
				return at
			}
		}
		return p.to
	}
	return after
}

// edge returns the offset, from the left of the part, at which the rune begins.
func (p *part) edge(at int) float32 {
	x := float32(0)
	for i := 0; i < len(p.glyphs); {
		k := p.glyphs[i]
		width := float32(0)
		for i < len(p.glyphs) && p.glyphs[i].from == k.from { // a cluster
			width += p.glyphs[i].advance
			i++
		}
		if at >= k.from && at < k.from+max(k.count, 1) {
			part := width * float32(at-k.from) / float32(max(k.count, 1))
			if p.rtl {
				return x + width - part
			}
			return x + part
		}
		x += width
	}
	if (at <= p.from) != p.rtl {
		return 0
	}
	return p.width
}

// Boxes returns the areas of the runes between from and to in a text of the given width.
func (t *Text) Boxes(from, to int, width float32) []Box {
	var boxes []Box
	for i := range t.lines {
		l := &t.lines[i]
		left := l.startOffset(width)
		for k := range l.parts {
			p := &l.parts[k]
			a, b := max(from, p.from), min(to, p.to)
			if a >= b {
				continue
			}
			x0, x1 := p.edge(a), p.edge(b)
			if b == p.to {
				x1 = p.width
				if p.rtl {
					x1 = 0
				}
			}
			if x0 > x1 {
				x0, x1 = x1, x0
			}
			box := Box{left + p.x + x0, l.y, x1 - x0, l.height}
			if n := len(boxes); n > 0 && boxes[n-1].Y == box.Y && box.X-boxes[n-1].X-boxes[n-1].Width < 0.5 && box.X >= boxes[n-1].X {
				boxes[n-1].Width = box.X + box.Width - boxes[n-1].X
				continue
			}
			boxes = append(boxes, box)
		}
	}
	return boxes
}
