package screen

import "unicode/utf8"

// history holds the lines that scrolled out of the main buffer at the top: their text, and the
// styles of its parts.
type history struct {
	lines        []line // a ring, once it has limit lines
	first, limit int
	pushed       int // lines that were ever added, less those that were taken back
	clusters     *table

	text  []byte // memory for push
	parts []part
}

// line is a row in compact form, without its empty end.
type line struct {
	text    []byte
	parts   []part // none: all in the default style
	wrapped bool
}

// part is how many characters have the same style.
type part struct {
	characters uint32
	style      Style
}

func (h *history) len() int { return len(h.lines) }

// at returns a line; 0 is the oldest.
func (h *history) at(i int) *line {
	if i += h.first; i >= len(h.lines) {
		i -= len(h.lines)
	}
	return &h.lines[i]
}

// add returns the place of a new line, which held the oldest one if the history is full.
func (h *history) add() *line {
	switch {
	case h.limit == 0:
		return &line{}
	case len(h.lines) < h.limit:
		h.lines = append(h.lines, line{})
		return &h.lines[len(h.lines)-1]
	}
	l := &h.lines[h.first]
	if h.first++; h.first == h.limit {
		h.first = 0
	}
	return l
}

// pop removes the newest line. There must be one.
func (h *history) pop() line {
	h.straighten()
	l := h.lines[len(h.lines)-1]
	h.lines[len(h.lines)-1] = line{}
	h.lines = h.lines[:len(h.lines)-1]
	h.pushed--
	return l
}

// straighten puts the oldest line first, so that lines can be added and removed at the end.
func (h *history) straighten() {
	if h.first > 0 {
		h.lines = append(append(make([]line, 0, h.limit), h.lines[h.first:]...), h.lines[:h.first]...)
		h.first = 0
	}
}

func (h *history) clear() { h.lines, h.first = nil, 0 }

// push stores a row of the screen as the newest line.
func (h *history) push(r *row) {
	text, parts := h.text[:0], h.parts[:0]
	n := r.used()
	if r.wrapped {
		n = len(r.cells)
	}
	for _, c := range r.cells[:n] {
		if c.glyph&tailGlyph != 0 {
			continue
		}
		switch {
		case c.glyph == 0:
			text = append(text, ' ')
		case c.glyph < utf8.RuneSelf:
			text = append(text, byte(c.glyph))
		default:
			text = append(text, h.clusters.text(c.glyph)...)
		}
		if k := len(parts) - 1; k >= 0 && parts[k].style == c.style {
			parts[k].characters++
		} else {
			parts = append(parts, part{1, c.style})
		}
	}
	h.text, h.parts = text, parts
	if len(parts) == 1 && parts[0].style == (Style{}) {
		parts = nil
	}
	h.pushed++
	l := h.add()
	l.text, l.parts, l.wrapped = refill(l.text, text), refill(l.parts, parts), r.wrapped
}

// refill copies values into the memory of old if they fit without much waste.
func refill[T any](old, values []T) []T {
	if len(values) == 0 {
		return nil
	}
	if c := cap(old); len(values) <= c && c <= 2*len(values) {
		return append(old[:0], values...)
	}
	return append([]T(nil), values...)
}

// each calls f for each character of the line.
func (l *line) each(f func(base rune, marks string, width int, style Style)) {
	style, left, parts := Style{}, -1, l.parts
	for text := l.text; len(text) > 0; {
		if len(parts) > 0 && left <= 0 {
			style, left, parts = parts[0].style, int(parts[0].characters), parts[1:]
		}
		base, size := utf8.DecodeRune(text)
		end := size
		for end < len(text) {
			r, n := utf8.DecodeRune(text[end:])
			if r < utf8.RuneSelf || runeWidth(r) > 0 {
				break
			}
			end += n
		}
		f(base, string(text[size:end]), runeWidth(base), style)
		text = text[end:]
		left--
	}
}

// expand returns the line as a row.
func (h *history) expand(l *line) *row {
	r := &row{wrapped: l.wrapped}
	l.each(func(base rune, marks string, width int, style Style) {
		g := glyph(base)
		if marks != "" {
			if n := h.clusters.number(string(base)+marks, nil); n > 0 {
				g = glyph(n) | clusterGlyph
			}
		}
		if width < 2 {
			r.cells = append(r.cells, cell{g, style})
		} else {
			r.cells = append(r.cells, cell{g | wideGlyph, style}, cell{tailGlyph, style})
		}
	})
	r.end = len(r.cells)
	return r
}
