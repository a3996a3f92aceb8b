package screen

import "slices"

// resize changes the size. The main buffer breaks its lines anew, as its history does; the alternate
// one is cut, because its program draws it again.
func (s *state) resize(cols, rows int) {
	if cols != s.main.cols {
		s.rewrap(cols)
	}
	s.setRows(rows)
	s.alternate.resize(cols, rows)
	for x := len(s.tabs); x < cols; x++ {
		s.tabs = append(s.tabs, x%8 == 0)
	}
	s.tabs = s.tabs[:cols]
	for _, g := range []*grid{&s.main, &s.alternate} {
		g.cols, g.top, g.bottom = cols, 0, rows-1
		g.saved.limit(cols, rows)
	}
	s.cursor.limit(cols, rows)
}

// limit moves a cursor into a screen that became smaller.
func (c *cursor) limit(cols, rows int) {
	c.pending = c.pending && c.x == cols-1
	c.x, c.y = min(max(c.x, 0), cols-1), min(max(c.y, 0), rows-1)
}

// resize makes a buffer smaller or larger at its right and lower edges.
func (g *grid) resize(cols, rows int) {
	for len(g.rows) < rows {
		g.rows = append(g.rows, newRow(cols, cell{}))
	}
	g.rows = g.rows[:rows]
	for _, r := range g.rows {
		r.setWidth(cols)
	}
}

// setWidth cuts the row or adds empty cells.
func (r *row) setWidth(cols int) {
	if cols < len(r.cells) {
		r.split(cols)
	}
	for len(r.cells) < cols {
		r.cells = append(r.cells, cell{})
	}
	r.cells, r.end = slices.Clip(r.cells[:cols]), min(r.end, cols)
}

// mainCursor returns the cursor of the main buffer, which is the saved one while the alternate
// buffer is shown.
func (s *state) mainCursor() *cursor {
	if s.modes.Alternate {
		return &s.main.saved
	}
	return &s.cursor
}

// setRows makes the main buffer higher or lower: empty rows at the bottom go first, then the oldest
// ones, into the history. It takes lines back from there if the cursor is at the bottom.
func (s *state) setRows(rows int) {
	g, c := &s.main, s.mainCursor()
	for len(g.rows) > rows && len(g.rows)-1 > c.y && g.rows[len(g.rows)-1].used() == 0 {
		g.rows = g.rows[:len(g.rows)-1]
	}
	if over := len(g.rows) - rows; over > 0 {
		for _, r := range g.rows[:over] {
			s.history.push(r)
		}
		g.rows = g.rows[over:]
		c.y -= over
	}
	if c.y == len(g.rows)-1 {
		taken := s.take(rows-len(g.rows), g.cols)
		g.rows = append(taken, g.rows...)
		c.y += len(taken)
	}
	for len(g.rows) < rows {
		g.rows = append(g.rows, newRow(g.cols, cell{}))
	}
}

// take removes up to n of the newest lines from the history.
func (s *state) take(n, cols int) []*row {
	var taken []*row
	for len(taken) < n && s.history.len() > 0 {
		l := s.history.pop()
		r := s.history.expand(&l)
		r.setWidth(cols)
		taken = append(taken, r)
	}
	slices.Reverse(taken)
	return taken
}

// rewrap breaks the lines of history and main buffer for another width. The line of the cursor is
// cut instead: its program, such as a shell, draws it again.
func (s *state) rewrap(cols int) {
	g, c := &s.main, s.mainCursor()
	height := len(g.rows)
	old := append(s.take(s.history.len(), g.cols), g.rows...)
	y := len(old) - height + c.y
	end := len(old)
	for end > y+1 && old[end-1].used() == 0 {
		end--
	}
	s.history.clear()
	g.cols, g.rows = cols, nil
	for i := 0; i < end; {
		last := i
		for last < end-1 && old[last].wrapped {
			last++
		}
		if i <= y && y <= last {
			c.y = len(g.rows) + y - i
			for ; i <= last; i++ {
				old[i].setWidth(cols)
				old[i].wrapped = false
				g.rows = append(g.rows, old[i])
			}
			continue
		}
		g.rows = append(g.rows, breakLine(join(old[i:last+1]), cols)...)
		i = last + 1
	}
	s.setRows(height)
}

// join returns the cells of a line in several rows.
func join(rows []*row) []cell {
	var cells []cell
	for i, r := range rows {
		n := r.used()
		if i < len(rows)-1 {
			n = len(r.cells)
			isGap := r.cells[n-1].glyph == 0 && rows[i+1].cells[0].glyph&wideGlyph != 0
			if isGap { // a wide character had no room
				n--
			}
		}
		cells = append(cells, r.cells[:n]...)
	}
	return cells
}

// breakLine returns the rows of a line.
func breakLine(cells []cell, cols int) []*row {
	var rows []*row
	for {
		n := min(len(cells), cols)
		if n < len(cells) && n > 1 && cells[n].glyph&tailGlyph != 0 {
			n--
		}
		r := &row{cells: slices.Clone(cells[:n]), end: n, wrapped: n < len(cells)}
		r.setWidth(cols)
		rows = append(rows, r)
		if cells = cells[n:]; len(cells) == 0 {
			return rows
		}
	}
}
