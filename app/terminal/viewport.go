package terminal

import (
	"image"

	"fyne.io/fyne/v2"

	"fairlead/gateway/peer/screen"
)

// inset is the space around the text.
const inset = 6

// viewport is the part of the screen and its history that a window shows, with the selected text.
type viewport struct {
	m    *Model
	inks *inks
	cell fyne.Size
	size fyne.Size
	// redraw draws a row again, and rebuild all when their number changed.
	redraw  func(row int)
	rebuild func()

	lines    []line // what each row shows
	focused  bool
	back     int // how many lines the view is above the screen
	scrolled int // of the screen, when it was last shown
	selected selected

	cols, rows int  // of the screen
	isLarger   bool // than the window
}

func newViewport(m *Model) *viewport {
	return &viewport{m: m, inks: newInks(), cell: cellSize(), redraw: func(int) {}, rebuild: func() {}}
}

// resize shows as much as fits into a size. The size of the typist's window is that of the screen.
func (v *viewport) resize(s fyne.Size) {
	v.size = s
	v.m.Resize(v.fits())
	v.show()
}

// restyle shows everything in the running theme.
func (v *viewport) restyle() {
	v.inks, v.cell, v.lines = newInks(), cellSize(), nil
	v.resize(v.size)
}

// fits returns how many cells have room.
func (v *viewport) fits() (cols, rows int) {
	return max(int((v.size.Width-2*inset)/v.cell.Width), 1), max(int((v.size.Height-2*inset)/v.cell.Height), 1)
}

// show draws the rows that changed.
func (v *viewport) show() {
	cols, rows := v.fits()
	lines := make([]line, rows)
	v.m.Look(func(s *screen.Screen) {
		v.cols, v.rows = s.Size()
		v.follow(s)
		v.isLarger = v.cols > cols || v.rows > rows
		first := v.firstLine(s, rows)
		for i := range lines {
			lines[i] = v.line(s, first+i, cols)
		}
	})
	if len(lines) != len(v.lines) {
		v.lines = lines
		v.rebuild()
		return
	}
	for i := range lines {
		if !lines[i].equal(v.lines[i]) {
			v.lines[i] = lines[i]
			v.redraw(i)
		}
	}
}

// follow lets a view of the history stay where it is while lines scroll out.
func (v *viewport) follow(s *screen.Screen) {
	if v.back > 0 {
		v.back += max(s.Scrolled()-v.scrolled, 0)
	}
	v.scrolled = s.Scrolled()
	if s.Modes().Alternate {
		v.back = 0
	}
	v.back = min(v.back, s.HistoryLines())
}

// firstLine returns the line of the screen in the first of the rows: if the screen is higher than the
// window, the last rows are shown, or those with the cursor.
func (v *viewport) firstLine(s *screen.Screen, rows int) int {
	_, y := s.Cursor()
	return min(max(v.rows-rows, 0), y) - v.back
}

// line returns what a row shows of a line.
func (v *viewport) line(s *screen.Screen, i, cols int) line {
	l := line{cursor: -1}
	if i < v.rows {
		l.cells, _ = s.Line(i, nil)
	}
	l.cells = cut(l.cells, cols)
	l.from, l.to = v.selected.columns(i+s.Scrolled(), v.cols)
	x, y := s.Cursor()
	if modes := s.Modes(); i == y && !modes.CursorHidden && v.m.State.Get().Phase == Shown && x < cols {
		l.cursor, l.shape = x, v.shape(modes.CursorShape)
	}
	return l
}

// shape returns the shape of the cursor for the number of DECSCUSR. It does not blink: that would keep
// the processor awake.
func (v *viewport) shape(n int) cursorShape {
	switch {
	case !v.focused || !v.m.State.Get().Now.Typing:
		return outline
	case n == 3 || n == 4:
		return underline
	case n == 5 || n == 6:
		return bar
	}
	return block
}

// cut returns the cells that have room in so many columns.
func cut(cells []screen.Cell, cols int) []screen.Cell {
	for i, c := range cells {
		if cols -= c.Width; cols < 0 {
			return cells[:i]
		}
	}
	return cells
}

// scrollBy moves the view by lines, upwards if n is positive.
func (v *viewport) scrollBy(n int) {
	v.back = max(v.back+n, 0)
	v.show()
}

// toBottom shows the screen itself.
func (v *viewport) toBottom() {
	if v.back > 0 {
		v.back = 0
		v.show()
	}
}

func (v *viewport) modes() (modes screen.Modes) {
	v.m.Look(func(s *screen.Screen) { modes = s.Modes() })
	return modes
}

func (v *viewport) selectAll() {
	v.m.Look(func(s *screen.Screen) {
		cols, rows := s.Size()
		v.selected = selected{place{s.Scrolled() - s.HistoryLines(), 0}, place{s.Scrolled() + rows - 1, cols}}
	})
	v.show()
}

// placeAt returns the cell at a position, and where it is on the screen.
func (v *viewport) placeAt(at fyne.Position) (p place, x, y int) {
	x = min(max(int((at.X-inset)/v.cell.Width), 0), v.cols)
	_, rows := v.fits()
	v.m.Look(func(s *screen.Screen) {
		y = v.firstLine(s, rows) + min(max(int((at.Y-inset)/v.cell.Height), 0), rows-1)
		p = place{y + s.Scrolled(), x}
	})
	return p, x, y
}

// linkAt returns where the text at a place leads, or "".
func (v *viewport) linkAt(p place) (address string) {
	v.m.Look(func(s *screen.Screen) {
		cells, _ := s.Line(p.line-s.Scrolled(), nil)
		column := 0
		for _, c := range cells {
			if column += c.Width; p.column < column {
				address = c.Link
				return
			}
		}
	})
	return address
}

// paint returns the picture of a row.
func (v *viewport) paint(i, w, h int) image.Image {
	if i >= len(v.lines) || h == 0 {
		return image.NewRGBA(image.Rect(0, 0, w, h))
	}
	return v.lines[i].paint(w, h, v.inks, v.cell)
}

// selectWord selects the word at a position.
func (v *viewport) selectWord(at fyne.Position) {
	p, x, _ := v.placeAt(at)
	v.m.Look(func(s *screen.Screen) {
		cells, _ := s.Line(p.line-s.Scrolled(), nil)
		from, to := wordAt(cells, x)
		v.selected = selected{place{p.line, from}, place{p.line, to}}
	})
	v.show()
}

// selectedText returns the selected text.
func (v *viewport) selectedText() (text string) {
	if !v.selected.isEmpty() {
		v.m.Look(func(s *screen.Screen) { text = v.selected.text(s) })
	}
	return text
}
