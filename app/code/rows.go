package code

import (
	"sort"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// rows are lines that are wrapped into rows.
type rows struct {
	source         []Line // unwrapped lines
	lines          []Line // displayed lines: a wrapped line becomes several
	offsets        []int  // text index of the first rune of each displayed line, and the index after the last
	wrapColumns    int    // columns per row; 0 does not wrap
	columns        int    // of the longest line
	gutter         int    // columns before the text
	hasBackgrounds bool   // some lines have a background
}

// set replaces the lines.
func (r *rows) set(lines []Line) {
	r.source = lines
	r.layOut()
}

// wrap wraps the lines at a number of columns; 0 does not wrap. It reports whether that changed.
func (r *rows) wrap(room int) bool {
	if room == r.wrapColumns {
		return false
	}
	r.wrapColumns = room
	r.layOut()
	return true
}

// texts yields the texts of the lines.
func (r *rows) texts(yield func(string) bool) {
	for _, l := range r.source {
		if !yield(l.Text()) {
			return
		}
	}
}

// size returns the size of the whole text.
func (r *rows) size() fyne.Size {
	cell := Cell()
	return fyne.NewSize(cell.Width*float32(r.gutter+r.columns), cell.Height*float32(len(r.lines)))
}

func (r *rows) gutterWidth() float32 { return float32(r.gutter) * Cell().Width }

// index returns the text position nearest to a point.
func (r *rows) index(at fyne.Position) int {
	cell := Cell()
	at.X -= r.gutterWidth()
	line := int(at.Y / cell.Height)
	switch {
	case at.Y < 0:
		return 0
	case line >= len(r.lines):
		return max(r.offsets[len(r.lines)]-1, 0) // the end
	}
	n, x := 0, float32(0)
	for _, letter := range r.lines[line].Text() {
		w := cell.Width * float32(columns(string(letter)))
		if x+w/2 > at.X {
			break
		}
		x += w
		n++
	}
	return r.offsets[line] + n
}

// positionOf returns the point of a text position.
func (r *rows) positionOf(at int) fyne.Position {
	line, cell := sort.SearchInts(r.offsets, at+1)-1, Cell()
	before := []rune(r.lines[line].Text())[:at-r.offsets[line]]
	return fyne.NewPos(r.gutterWidth()+cell.Width*float32(columns(string(before))), cell.Height*float32(line))
}

// layOut wraps the lines into rows, and records the text index of each row.
func (r *rows) layOut() {
	r.columns, r.gutter, r.hasBackgrounds = 0, 0, false
	for _, l := range r.source {
		if l.Gutter != "" {
			r.gutter = max(r.gutter, columns(l.Gutter)+1)
		}
	}
	r.lines, r.offsets = r.source, make([]int, 0, len(r.source)+1)
	if r.wrapColumns > 0 {
		r.lines = make([]Line, 0, len(r.source))
	}
	off, parts := 0, make([]Line, 1)
	for _, l := range r.source {
		r.hasBackgrounds = r.hasBackgrounds || l.Background != ""
		parts = append(parts[:0], l)
		if r.wrapColumns > 0 {
			parts = l.wrap(max(r.wrapColumns-r.gutter, 1))
			r.lines = append(r.lines, parts...)
		}
		for _, row := range parts {
			r.offsets = append(r.offsets, off)
			n := 0
			for _, s := range row.Spans {
				n += columns(s.Text)
				off += utf8.RuneCountInString(s.Text)
			}
			r.columns = max(r.columns, n)
		}
		off++ // the end of the line
	}
	r.offsets = append(r.offsets, off)
}

// wrap splits a line into rows of at most room columns. Joined, the rows are the line.
func (l Line) wrap(room int) []Line {
	ends := rowEnds([]rune(l.Text()), room)
	if len(ends) == 1 {
		return []Line{l}
	}
	rows := make([]Line, 0, len(ends))
	row, at := Line{Background: l.Background, Gutter: l.Gutter}, 0
	for _, s := range l.Spans {
		for text := []rune(s.Text); len(text) > 0; {
			n := min(len(text), ends[len(rows)]-at)
			part := s
			part.Text = string(text[:n])
			row.Spans = append(row.Spans, part)
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

// columns returns the width of text in columns; wide East Asian characters and emoji count twice.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
			r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000) {
			n++
		}
	}
	return n
}

// Cell returns the size of one monospaced letter, with the line height.
func Cell() fyne.Size {
	s := widgets.MeasureText("MMMMMMMMMM", style.Size(style.SizeCode), fyne.TextStyle{Monospace: true})
	return fyne.NewSize(s.Width/10, float32(int(style.Size(style.SizeCode)*1.45+0.5)))
}
