package screen

import "slices"

// grid is one of the two buffers of a screen.
type grid struct {
	rows        []*row
	cols        int
	top, bottom int // the first and the last row that scroll
	saved       cursor
}

// cursor is where and how the next character is written.
type cursor struct {
	x, y    int
	pending bool // the last column was written; the next character goes to the next line
	pen     Style
	charset charset
}

// charset says which of the two character sets is in use, and which of them draws lines.
type charset struct {
	shifted bool
	lines   [2]bool
}

func (c charset) drawsLines() bool {
	if c.shifted {
		return c.lines[1]
	}
	return c.lines[0]
}

func newGrid(cols, rows int, fill cell) grid {
	g := grid{cols: cols, bottom: rows - 1}
	for range rows {
		g.rows = append(g.rows, newRow(cols, fill))
	}
	return g
}

// scrollUp moves the rows from top to bottom up by n, and calls leave for each that leaves.
func (g *grid) scrollUp(top, bottom, n int, fill cell, leave func(*row)) {
	region := g.rows[top : bottom+1]
	n = min(n, len(region))
	for _, r := range region[:n] {
		if leave != nil {
			leave(r)
		}
		r.empty(fill)
	}
	g.cut(top, leave == nil)
	rotate(region, n)
}

// scrollDown moves the rows from top to bottom down by n.
func (g *grid) scrollDown(top, bottom, n int, fill cell) {
	region := g.rows[top : bottom+1]
	n = min(n, len(region))
	for _, r := range region[len(region)-n:] {
		r.empty(fill)
	}
	g.cut(top, true)
	rotate(region, len(region)-n)
	region[len(region)-1].wrapped = false
}

// cut notes that the row above y no longer goes on in it.
func (g *grid) cut(y int, ok bool) {
	if ok && y > 0 {
		g.rows[y-1].wrapped = false
	}
}

// rotate moves the first n rows to the end.
func rotate(rows []*row, n int) {
	if n == 1 { // each line break at the bottom of the screen
		first := rows[0]
		copy(rows, rows[1:])
		rows[len(rows)-1] = first
		return
	}
	moved := slices.Clone(rows[:n])
	copy(rows, rows[n:])
	copy(rows[len(rows)-n:], moved)
}

// insertCells moves the cells from column x on to the right by n.
func (g *grid) insertCells(x, y, n int, fill cell) {
	r := g.rows[y]
	n = min(n, g.cols-x)
	r.split(x)
	r.split(g.cols - n)
	copy(r.cells[x+n:], r.cells[x:])
	r.end = g.cols
	for i := x; i < x+n; i++ {
		r.cells[i] = fill
	}
}

// deleteCells removes n cells from column x on; the rest moves to the left.
func (g *grid) deleteCells(x, y, n int, fill cell) {
	r := g.rows[y]
	n = min(n, g.cols-x)
	r.split(x)
	r.split(x + n)
	copy(r.cells[x:], r.cells[x+n:])
	r.end = g.cols
	for i := g.cols - n; i < g.cols; i++ {
		r.cells[i] = fill
	}
}

// eraseRows empties the rows from y up to end.
func (g *grid) eraseRows(y, end int, fill cell) {
	for ; y < end; y++ {
		g.rows[y].empty(fill)
	}
}

// eraseCells empties the columns from x up to end of row y.
func (g *grid) eraseCells(y, x, end int, fill cell) {
	g.rows[y].fill(x, end, fill)
	if end == g.cols {
		g.rows[y].wrapped = false
	}
}
