package screen

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// snapshot writes the sequences that lead to a state. The terminal that reads them is empty, and is
// put into its initial state first.
type snapshot struct {
	state *state
	out   []byte
	style Style // of what is written
	x     int   // where the next character goes
}

func (w *snapshot) add(layout string, values ...any) { w.out = fmt.Appendf(w.out, layout, values...) }

// snapshot returns the sequences for the whole state.
func (in *interpreter) snapshot() []byte {
	s := in.state
	w := snapshot{state: s}
	w.add("\x1bc")
	if in.title != "" {
		w.add("\x1b]2;%s\x1b\\", in.title)
	}
	w.tabs()
	w.mainRows()
	w.region(&s.main)
	w.savedCursor(s.main.saved, &s.main)
	if s.modes.Alternate {
		w.add("\x1b[?1047h\x1b[H")
		w.rows(s.alternate.rows)
		w.region(&s.alternate)
		w.savedCursor(s.alternate.saved, &s.alternate)
	}
	if s.modes.origin {
		w.add("\x1b[?6h")
	}
	w.cursor(s.cursor, s.active, s.modes.origin)
	w.modes()
	return append(append(w.out, in.sequence...), in.cut...)
}

func (w *snapshot) tabs() {
	tabs := w.state.tabs
	if slices.Equal(tabs, newTabs(len(tabs))) {
		return
	}
	w.add("\x1b[3g")
	for x, isSet := range tabs {
		if isSet {
			w.add("\x1b[%dG\x1bH", x+1)
		}
	}
	w.add("\r")
}

// mainRows writes the history and the main buffer, which scrolls the history out.
func (w *snapshot) mainRows() {
	h := &w.state.history
	rows := w.state.main.rows
	for i := range h.len() {
		l := h.at(i)
		l.each(func(base rune, marks string, width int, style Style) {
			w.character(string(base)+marks, width, style)
		})
		w.endLine(l.wrapped)
	}
	w.rows(rows[:lastUsed(rows, h.len() > 0)+1])
	w.setStyle(Style{})
}

// lastUsed returns the last row that must be written: all if the history is to scroll out.
func lastUsed(rows []*row, all bool) int {
	last := len(rows) - 1
	for !all && last > 0 && rows[last].used() == 0 && !rows[last-1].wrapped {
		last--
	}
	return last
}

// rows writes rows from the start of a line on.
func (w *snapshot) rows(rows []*row) {
	for y, r := range rows {
		n := r.used()
		if r.wrapped && y < len(rows)-1 {
			n = len(r.cells)
		}
		for x := range n {
			w.cell(r.cells[x])
		}
		if y < len(rows)-1 {
			w.endLine(r.wrapped)
		}
	}
	w.x = 0
}

// endLine goes to the next line. If the text goes on there, a space makes the terminal wrap.
func (w *snapshot) endLine(wrapped bool) {
	w.setStyle(Style{}) // the new line gets the background of the moment
	if wrapped {
		w.add(" \r")
	} else {
		w.add("\r\n")
	}
	w.x = 0
}

func (w *snapshot) cell(c cell) {
	width := 1
	switch {
	case c.glyph&tailGlyph != 0:
		return
	case c.glyph&wideGlyph != 0:
		width = 2
	}
	w.character(w.state.clusters.text(c.glyph), width, c.style)
}

// character writes a character with its marks. Terminals disagree about the width of newer
// characters and of marks, so the column is set after them.
func (w *snapshot) character(text string, width int, style Style) {
	w.setStyle(style)
	w.out = append(w.out, text...)
	w.x += width
	r, size := utf8.DecodeRuneInString(text)
	if (r > 0xffff || size < len(text)) && w.x < w.state.main.cols {
		w.add("\x1b[%dG", w.x+1)
	}
}

// setStyle sets the style of the following text.
func (w *snapshot) setStyle(style Style) {
	if style == w.style {
		return
	}
	if style.link != w.style.link {
		w.add("\x1b]8;;%s\x1b\\", w.state.links.texts[style.link])
		w.style.link = style.link
	}
	if style != w.style {
		w.out = style.appendTo(append(w.out, "\x1b[0"...))
		w.out = append(w.out, 'm')
	}
	w.style = style
}

// attributeNumbers are the parameters of CSI m that set the attributes, from Bold on.
var attributeNumbers = [...]string{"1", "2", "3", "4", "21", "4:3", "5", "7", "8", "9", "53"}

// appendTo appends the parameters of CSI m, each after a semicolon.
func (style Style) appendTo(out []byte) []byte {
	for i, number := range attributeNumbers {
		if style.Attributes&(1<<i) != 0 {
			out = append(append(out, ';'), number...)
		}
	}
	out = style.Foreground.appendTo(out, "38")
	return style.Background.appendTo(out, "48")
}

func (c Color) appendTo(out []byte, kind string) []byte {
	if index, ok := c.Palette(); ok {
		return fmt.Appendf(out, ";%s;5;%d", kind, index)
	}
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Appendf(out, ";%s;2;%d;%d;%d", kind, r, g, b)
	}
	return out
}

func (w *snapshot) region(g *grid) {
	if g.top > 0 || g.bottom < len(g.rows)-1 {
		w.add("\x1b[%d;%dr", g.top+1, g.bottom+1)
	}
}

func (w *snapshot) savedCursor(c cursor, g *grid) {
	if c != (cursor{}) {
		w.cursor(c, g, false)
		w.add("\x1b7")
	}
	if c.charset != (charset{}) {
		w.add("\x1b(B\x1b)B\x0f")
	}
	w.setStyle(Style{})
}

// cursor moves the cursor, and sets how it writes. To be after the last column, it writes that one
// again.
func (w *snapshot) cursor(c cursor, g *grid, origin bool) {
	x, y := c.x, c.y
	if origin {
		y -= g.top
	}
	cells := g.rows[c.y].cells
	if c.pending && cells[x].glyph&tailGlyph != 0 {
		x--
	}
	w.add("\x1b[%d;%dH", y+1, x+1)
	if c.pending {
		w.x = x
		w.cell(cells[x])
	}
	w.setStyle(c.pen)
	for i, lines := range c.charset.lines {
		if lines {
			w.add("\x1b%c0", "()"[i])
		}
	}
	if c.charset.shifted {
		w.add("\x0e")
	}
}

// modes sets what differs from the initial state.
func (w *snapshot) modes() {
	modes, initial := w.state.modes, newModes()
	for _, n := range [...]int{4, 20} {
		if flag, _ := modes.flag(false, n); *flag {
			w.add("\x1b[%dh", n)
		}
	}
	for _, n := range [...]int{1, 7, 12, 25, 45, 66, 1004, 1007, 2004} {
		flag, inverted := modes.flag(true, n)
		if was, _ := initial.flag(true, n); *flag != *was {
			w.add("\x1b[?%d%c", n, map[bool]byte{true: 'h', false: 'l'}[*flag != inverted])
		}
	}
	for _, n := range [...]int{modes.Mouse, modes.MouseFormat} {
		if n != 0 {
			w.add("\x1b[?%dh", n)
		}
	}
	if modes.CursorShape != 0 {
		w.add("\x1b[%d q", modes.CursorShape)
	}
}
