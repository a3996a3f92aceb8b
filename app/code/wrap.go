package code

import "unicode/utf8"

// layOut wraps the lines into rows, and records the text index of each row.
func (c *View) layOut() {
	c.columns, c.hasBackgrounds = 0, false
	c.lines, c.offsets = c.source, make([]int, 0, len(c.source)+1)
	if c.wrapColumns > 0 {
		c.lines = make([]Line, 0, len(c.source))
	}
	off, rows := 0, make([]Line, 1)
	for _, l := range c.source {
		c.hasBackgrounds = c.hasBackgrounds || l.Background != ""
		rows = append(rows[:0], l)
		if c.wrapColumns > 0 {
			rows = l.wrapped(c.wrapColumns)
			c.lines = append(c.lines, rows...)
		}
		for _, row := range rows {
			c.offsets = append(c.offsets, off)
			n := 0
			for _, s := range row.Spans {
				n += columns(s.Text)
				off += utf8.RuneCountInString(s.Text)
			}
			c.columns = max(c.columns, n)
		}
		off++ // the end of the line
	}
	c.offsets = append(c.offsets, off)
}

// WrapTo wraps the lines at a width if the panel wraps.
func (c *View) WrapTo(width float32) {
	if !c.wraps {
		return
	}
	if room := max(int((width+0.5)/Cell().Width), 1); room != c.wrapColumns {
		c.wrapColumns = room
		c.layOut()
		c.Refresh()
	}
}

// wrapped splits a line into rows of at most room columns. Joined, the rows are the line.
func (l Line) wrapped(room int) []Line {
	ends := rowEnds([]rune(l.Text()), room)
	if len(ends) == 1 {
		return []Line{l}
	}
	rows := make([]Line, 0, len(ends))
	row, at := Line{Background: l.Background}, 0
	for _, s := range l.Spans {
		for text := []rune(s.Text); len(text) > 0; {
			n := min(len(text), ends[len(rows)]-at)
			row.Spans = append(row.Spans, Span{string(text[:n]), s.Color})
			text, at = text[n:], at+n
			if at == ends[len(rows)] {
				rows = append(rows, row)
				row = Line{Background: l.Background}
			}
		}
	}
	return rows
}

// rowEnds returns the ends of the rows of a line, including the line's end: after a blank, or
// within a word that would otherwise leave half of the row empty.
func rowEnds(text []rune, room int) (ends []int) {
	from, blank, wide := 0, 0, 0
	for i, r := range text {
		w := columns(string(r))
		if wide+w > room && i > from {
			end := i
			if blank-from > room/2 {
				end = blank
			}
			ends = append(ends, end)
			from, blank, wide = end, end, columns(string(text[end:i]))
		}
		wide += w
		if r == ' ' {
			blank = i + 1
		}
	}
	return append(ends, len(text))
}
