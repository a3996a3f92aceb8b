package widgets

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// ListRow is a row of a [RowList].
type ListRow struct {
	ID      string            // unique; the cursor stays on it when the list changes
	Heading fyne.CanvasObject // shown instead of an item; cannot be chosen
	Tall    bool              // the item has a second line
}

// RowList is a list of up to thousands of rows that look like a [SidebarRow], with headings. It
// draws only the visible ones. The whole list is one stop of Tab: the arrow keys, Page Up, Page
// Down, Home and End move the cursor.
type RowList struct {
	widget.BaseWidget
	Item     func(i int) SidebarItem            // called for visible rows
	OnTap    func(i int, keys fyne.KeyModifier) // for a click, with the modifier keys that were pressed
	OnChoose func(i int)                        // for Enter
	OnMenu   func(i int, at fyne.Position)
	// OnMove is called when a key moved the cursor, with extend if Shift was pressed.
	OnMove func(i int, extend bool)
	// OnKey is called for other keys, with the row of the cursor; -1 means none.
	OnKey      func(i int, e *fyne.KeyEvent)
	OnShortcut func(i int, s fyne.Shortcut) (used bool)
	OnRune     func(r rune)

	rows     []ListRow
	tops     []float32 // of the rows, and the end of the last
	cursor   int       // -1 means none
	cursorID string    // ID of its row
	focused  bool
	lines    map[int]*rowLine // of visible rows, by index
	free     []*rowLine
	content  *rowContent
	scroller *Scroller
}

// NewRowList creates an empty list.
func NewRowList() *RowList {
	l := &RowList{cursor: -1, lines: make(map[int]*rowLine)}
	l.content = &rowContent{list: l}
	l.content.ExtendBaseWidget(l.content)
	l.scroller = NewScroller(l.content)
	l.ExtendBaseWidget(l)
	return l
}

// Set shows other rows, or the same ones with other items.
func (l *RowList) Set(rows []ListRow) {
	at := l.cursor
	l.rows = rows
	if at >= 0 {
		l.cursor = slices.IndexFunc(rows, func(r ListRow) bool { return r.ID == l.cursorID && r.Heading == nil })
	}
	if l.cursor < 0 && at >= 0 {
		l.place(l.near(min(at, len(rows)-1), 1))
	}
	l.layOut()
}

// Rows returns the rows. They must not be changed.
func (l *RowList) Rows() []ListRow { return l.rows }

// Cursor returns the index of the row with the cursor, or -1.
func (l *RowList) Cursor() int { return l.cursor }

// SetCursor moves the cursor to a row and scrolls it into view; -1 removes it.
func (l *RowList) SetCursor(i int) {
	l.place(i)
	l.content.draw()
	l.Reveal(i)
}

// ScrollToTop scrolls to the first row.
func (l *RowList) ScrollToTop() { l.scroller.MoveTo(fyne.Position{}) }

func (l *RowList) place(i int) {
	l.cursor, l.cursorID = i, ""
	if i >= 0 {
		l.cursorID = l.rows[i].ID
	}
}

// Height returns the height of all rows.
func (l *RowList) Height() float32 { return l.content.MinSize().Height }

// layOut measures the rows and draws the visible ones.
func (l *RowList) layOut() {
	gap := theme.Padding()
	short, tall := l.line(false), l.line(true)
	l.tops = append(l.tops[:0], 0)
	y := float32(0)
	for _, r := range l.rows {
		switch {
		case r.Heading != nil:
			y += r.Heading.MinSize().Height
		case r.Tall:
			y += tall
		default:
			y += short
		}
		y += gap
		l.tops = append(l.tops, y)
	}
	l.scroller.Update()
	l.content.draw()
}

// line returns the height of a row.
func (l *RowList) line(tall bool) float32 {
	h := MeasureText("M", style.Size(style.SizeSidebar), fyne.TextStyle{}).Height
	if tall {
		h += MeasureText("M", style.Size(style.SizeSmall), fyne.TextStyle{}).Height
	}
	return max(h, iconSize()) + 2*style.Gap
}

// near returns the first row from i on, in a direction and then in the other one, that is not a
// heading; -1 means none.
func (l *RowList) near(i, step int) int {
	for _, by := range []int{step, -step} {
		for at := i; at >= 0 && at < len(l.rows); at += by {
			if l.rows[at].Heading == nil {
				return at
			}
		}
	}
	return -1
}

// Reveal scrolls a row into view, with a heading above it; -1 means none.
func (l *RowList) Reveal(i int) {
	if i < 0 || i+1 >= len(l.tops) {
		return
	}
	top, bottom := l.tops[i], l.tops[i+1]
	if i > 0 && l.rows[i-1].Heading != nil {
		top = l.tops[i-1]
	}
	to, height := l.scroller.offset, l.Size().Height
	if bottom > to.Y+height {
		to.Y = bottom - height
	}
	to.Y = min(to.Y, top)
	l.scroller.MoveTo(to)
}

// FocusGained implements fyne.Focusable.
func (l *RowList) FocusGained() {
	l.focused = true
	if l.cursor < 0 {
		l.place(l.near(0, 1))
		for i := range l.rows { // the current one
			if l.rows[i].Heading == nil && l.Item(i).Selected {
				l.place(i)
				break
			}
		}
	}
	l.content.draw()
	l.Reveal(l.cursor)
}

// FocusLost implements fyne.Focusable.
func (l *RowList) FocusLost() {
	l.focused = false
	l.content.draw()
}

// TypedRune implements fyne.Focusable.
func (l *RowList) TypedRune(r rune) {
	if r != ' ' {
		CallWith(l.OnRune, r)
	}
}

// TypedKey implements fyne.Focusable.
func (l *RowList) TypedKey(e *fyne.KeyEvent) {
	page := max(int(l.Size().Height/l.line(false))-1, 1)
	moves := map[fyne.KeyName][2]int{ // target, and direction from there
		fyne.KeyUp: {l.cursor - 1, -1}, fyne.KeyDown: {l.cursor + 1, 1}, fyne.KeyPageUp: {max(l.cursor-page, 0), -1},
		fyne.KeyPageDown: {min(l.cursor+page, len(l.rows)-1), 1}, fyne.KeyHome: {0, 1}, fyne.KeyEnd: {len(l.rows) - 1, -1},
	}
	if to, ok := moves[e.Name]; ok {
		if i := l.near(to[0], to[1]); i >= 0 {
			l.SetCursor(i)
			if l.OnMove != nil {
				l.OnMove(i, KeyModifiers()&fyne.KeyModifierShift != 0)
			}
		}
		return
	}
	switch isEnter := e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter; {
	case isEnter && l.cursor >= 0:
		l.OnChoose(l.cursor)
	case l.OnKey != nil:
		l.OnKey(l.cursor, e)
	}
}

// TypedShortcut implements fyne.Shortcutable.
func (l *RowList) TypedShortcut(s fyne.Shortcut) {
	if l.OnShortcut == nil || !l.OnShortcut(l.cursor, s) {
		PassShortcut(l, s)
	}
}

// RowPosition returns the lower left corner of a visible row on the canvas.
func (l *RowList) RowPosition(i int) fyne.Position {
	line := l.lines[i]
	if line == nil {
		return fyne.CurrentApp().Driver().AbsolutePositionForObject(l)
	}
	return fyne.CurrentApp().Driver().AbsolutePositionForObject(line).AddXY(style.Group, line.Size().Height)
}

// MinSize implements fyne.Widget.
func (l *RowList) MinSize() fyne.Size { return fyne.NewSize(40, 0) }

// Refresh implements fyne.Widget. The theme may have changed: icons that are not visible then keep
// their old colour.
func (l *RowList) Refresh() {
	l.free = nil
	l.layOut()
	l.BaseWidget.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (l *RowList) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(l.scroller)
}

// KeyModifiers returns the modifier keys that are pressed.
func KeyModifiers() fyne.KeyModifier {
	if d, ok := fyne.CurrentApp().Driver().(desktop.Driver); ok {
		return d.CurrentKeyModifiers()
	}
	return 0
}
