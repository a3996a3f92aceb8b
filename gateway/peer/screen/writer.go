package screen

// writer writes text at the cursor.
type writer struct {
	state *state
	last  glyph // what CSI b repeats; 0 after any control function
}

// printASCII writes printable characters of one byte.
func (w *writer) printASCII(p []byte) {
	s := w.state
	if s.cursor.charset.drawsLines() {
		for _, b := range p {
			w.print(lineDrawing(b))
		}
		return
	}
	for len(p) > 0 {
		w.wrap()
		cols := s.active.cols
		n := min(len(p), cols-s.cursor.x)
		if s.modes.insert {
			s.active.insertCells(s.cursor.x, s.cursor.y, n, s.blank())
		}
		cells := w.row().change(s.cursor.x, s.cursor.x+n)
		for i, b := range p[:n] {
			cells[i] = cell{glyph(b), s.cursor.pen}
		}
		w.last = glyph(p[n-1])
		w.advance(n)
		if p = p[n:]; !s.modes.wraps && s.cursor.x == cols-1 && len(p) > 1 {
			p = p[len(p)-1:] // each would overwrite the last column
		}
	}
}

// advance moves the cursor over n written columns.
func (w *writer) advance(n int) {
	s := w.state
	if s.cursor.x += n; s.cursor.x >= s.active.cols {
		s.cursor.x = s.active.cols - 1
		s.cursor.pending = s.modes.wraps
	}
}

// wrap goes to the next line if the last column has been written.
func (w *writer) wrap() {
	s := w.state
	if !s.cursor.pending {
		return
	}
	r := w.row()
	s.cursor.x = 0
	r.wrapped = true // before the row scrolls out
	s.lineFeed()
}

// print writes one character.
func (w *writer) print(r rune) {
	s := w.state
	width := runeWidth(r)
	if width == 0 {
		w.attach(r)
		return
	}
	w.wrap()
	if width == 2 && s.cursor.x == s.active.cols-1 {
		switch {
		case s.active.cols < 2:
			r, width = '?', 1
		case !s.modes.wraps:
			return
		default:
			w.row().fill(s.cursor.x, s.active.cols, s.blank())
			s.cursor.pending = true
			w.wrap()
		}
	}
	w.writeGlyph(glyph(r), width)
}

func (w *writer) writeGlyph(g glyph, width int) {
	s := w.state
	if s.modes.insert {
		s.active.insertCells(s.cursor.x, s.cursor.y, width, s.blank())
	}
	cells := w.row().change(s.cursor.x, s.cursor.x+width)
	if width == 2 {
		g |= wideGlyph
		cells[1] = cell{tailGlyph, s.cursor.pen}
	}
	cells[0] = cell{g, s.cursor.pen}
	w.last = g
	w.advance(width)
}

// attach adds a combining character to the one before the cursor.
func (w *writer) attach(mark rune) {
	s := w.state
	x := s.cursor.x
	if !s.cursor.pending {
		x--
	}
	if x < 0 || !isMark(mark) {
		return
	}
	w.row().end = s.active.cols
	cells := w.row().cells
	if cells[x].glyph&tailGlyph != 0 {
		x--
	}
	g := cells[x].glyph
	text := s.clusters.text(g)
	if len(text) >= maxCluster {
		return
	}
	if c := w.cluster(text + string(mark)); c != 0 {
		cells[x].glyph = c | g&wideGlyph
		w.last = cells[x].glyph
	}
}

// cluster returns the glyph of a character with its marks, or 0 if there are too many of them.
func (w *writer) cluster(text string) glyph {
	s := w.state
	n := s.clusters.number(text, func(visit func(uint32) uint32) {
		w.eachCell(func(c *cell) {
			if c.glyph&clusterGlyph != 0 {
				c.glyph = c.glyph&^glyphValue | glyph(visit(uint32(c.glyph&glyphValue)))
			}
		})
		w.last = 0
	})
	if n == 0 {
		return 0
	}
	return glyph(n) | clusterGlyph
}

// setLink makes the following text lead to an address.
func (w *writer) setLink(address string) {
	s := w.state
	s.cursor.pen.link = uint16(s.links.number(address, func(visit func(uint32) uint32) {
		renumber := func(style *Style) { style.link = uint16(visit(uint32(style.link))) }
		w.eachCell(func(c *cell) { renumber(&c.style) })
		for i := range s.history.lines {
			for k := range s.history.lines[i].parts {
				renumber(&s.history.lines[i].parts[k].style)
			}
		}
		for _, c := range []*cursor{&s.cursor, &s.main.saved, &s.alternate.saved} {
			renumber(&c.pen)
		}
	}))
}

// row returns the row of the cursor.
func (w *writer) row() *row { return w.state.active.rows[w.state.cursor.y] }

func (w *writer) eachCell(f func(*cell)) {
	for _, g := range []*grid{&w.state.main, &w.state.alternate} {
		for _, r := range g.rows {
			for i := range r.cells {
				f(&r.cells[i])
			}
		}
	}
}
