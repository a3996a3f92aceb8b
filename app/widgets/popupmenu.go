package widgets

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// popupMenu shows a menu over a window until a line is chosen or something else is clicked. It covers
// the canvas and has the keyboard: the arrows move, Enter chooses, Escape closes, and a letter goes to
// the next line that begins with it.
type popupMenu struct {
	Composite
	canvas fyne.Canvas
	box    *fyne.Container
	levels []*menuLevel // the menu and its open submenus
}

// showPopupMenu opens a menu with its corner at a position, or as close to it as it fits. If it is
// opened by the key of a button, its first line is highlighted.
func showPopupMenu(items []*fyne.MenuItem, c fyne.Canvas, at fyne.Position) {
	b, ok := c.Focused().(interface{ isPressedByKey() bool })
	byKey := ok && b.isPressedByKey()
	m := &popupMenu{canvas: c, box: container.NewWithoutLayout()}
	m.Compose(m, m.box)
	m.Resize(c.Size())
	m.open(items, at, 0)
	c.Overlays().Add(m)
	c.Focus(m)
	if byKey {
		m.last().move(1)
	}
}

// menuLevel is a menu or a submenu.
type menuLevel struct {
	menu   *popupMenu
	box    *fyne.Container
	rows   []*menuRow
	active int // index of the highlighted row; -1 for none
}

// menuEdge is the space between a menu's edge and its rows, and between the menu and the window.
const menuEdge = 4

// open adds a level. Beside a parent of a width, it is at the left if there is no room at the right.
func (m *popupMenu) open(items []*fyne.MenuItem, at fyne.Position, parent float32) {
	l := &menuLevel{menu: m, active: -1}
	has := func(test func(*fyne.MenuItem) bool) bool { return slices.ContainsFunc(items, test) }
	checks, icons := has(func(i *fyne.MenuItem) bool { return i.Checked }), has(func(i *fyne.MenuItem) bool { return i.Icon != nil })
	list := Col(0)
	for _, item := range items {
		r := newMenuRow(l, len(l.rows), item, checks, icons)
		l.rows = append(l.rows, r)
		list.Add(r)
	}
	scroll := NewVScroll(list)
	l.box = container.NewStack(NewRect(style.ColorSurface, style.ColorLine, style.Corner), Inset(menuEdge, menuEdge, menuEdge, menuEdge, scroll))
	room := m.canvas.Size()
	size := list.MinSize().AddWidthHeight(2*menuEdge, 2*menuEdge)
	size = fyne.NewSize(min(size.Width, room.Width-2*menuEdge), min(size.Height, room.Height-2*menuEdge))
	if parent > 0 && at.X+size.Width > room.Width-menuEdge && at.X-parent-size.Width >= menuEdge {
		at.X -= parent + size.Width
	}
	at.X = max(min(at.X, room.Width-size.Width-menuEdge), menuEdge)
	at.Y = max(min(at.Y, room.Height-size.Height-menuEdge), menuEdge)
	l.box.Resize(size)
	l.box.Move(at)
	m.levels = append(m.levels, l)
	m.box.Add(l.box)
}

// menuSize is the size that a menu wants.
func menuSize(items []*fyne.MenuItem) fyne.Size {
	size := fyne.NewSize(0, 2*menuEdge)
	for _, item := range items {
		row := newMenuRow(nil, 0, item, true, true).MinSize()
		size = fyne.NewSize(max(size.Width, row.Width+2*menuEdge), size.Height+row.Height)
	}
	return size
}

func (m *popupMenu) last() *menuLevel { return m.levels[len(m.levels)-1] }

// closeAbove closes the submenus above a level.
func (m *popupMenu) closeAbove(l *menuLevel) {
	at := slices.Index(m.levels, l) + 1
	for _, o := range m.levels[at:] {
		m.box.Remove(o.box)
	}
	m.levels = m.levels[:at]
}

func (m *popupMenu) dismiss() { m.canvas.Overlays().Remove(m) }

// Resize implements fyne.CanvasObject. A menu does not survive a change of its window.
func (m *popupMenu) Resize(size fyne.Size) {
	if len(m.levels) > 0 && size != m.Size() {
		m.dismiss()
	}
	m.Composite.Resize(size)
}

// Tapped implements fyne.Tappable: a click beside the menu closes it.
func (m *popupMenu) Tapped(*fyne.PointEvent) { m.dismiss() }

// MouseDown implements desktop.Mouseable: so does a press of another button. Its release does not,
// because a menu may have opened at its press.
func (m *popupMenu) MouseDown(e *desktop.MouseEvent) {
	if e.Button != desktop.MouseButtonPrimary {
		m.dismiss()
	}
}

// MouseUp implements desktop.Mouseable.
func (m *popupMenu) MouseUp(*desktop.MouseEvent) {}

// FocusGained implements fyne.Focusable.
func (m *popupMenu) FocusGained() {}

// FocusLost implements fyne.Focusable.
func (m *popupMenu) FocusLost() {}

// TypedRune implements fyne.Focusable.
func (m *popupMenu) TypedRune(r rune) {
	l := m.last()
	n := len(l.rows)
	for step := range n {
		i := (l.active + 1 + step) % n
		if row := l.rows[i]; row.canChoose() && strings.HasPrefix(strings.ToLower(row.item.Label), strings.ToLower(string(r))) {
			l.activate(i)
			return
		}
	}
}

// TypedKey implements fyne.Focusable.
func (m *popupMenu) TypedKey(e *fyne.KeyEvent) {
	l := m.last()
	switch e.Name {
	case fyne.KeyDown:
		l.move(1)
	case fyne.KeyUp:
		l.move(-1)
	case fyne.KeyRight:
		if l.active >= 0 && l.rows[l.active].item.ChildMenu != nil {
			l.choose(l.active, true)
		}
	case fyne.KeyLeft:
		if len(m.levels) > 1 {
			m.closeAbove(m.levels[len(m.levels)-2])
		}
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		if l.active >= 0 {
			l.choose(l.active, true)
		}
	case fyne.KeyEscape:
		m.dismiss()
	}
}

// move highlights the next row that can be chosen, in a direction.
func (l *menuLevel) move(by int) {
	n := len(l.rows)
	i := l.active
	if i < 0 && by < 0 {
		i = 0
	}
	for range n {
		i = (i + by + n) % n
		if l.rows[i].canChoose() {
			l.activate(i)
			return
		}
	}
}

func (l *menuLevel) activate(i int) {
	l.active = i
	for n, r := range l.rows {
		r.background.Set(Choose(n == i && r.canChoose(), style.ColorSelected, ""), "")
	}
	ScrollIntoView(l.rows[i])
}

// choose opens the submenu of a row, or closes the menu and carries the row out.
func (l *menuLevel) choose(i int, byKey bool) {
	r := l.rows[i]
	if !r.canChoose() {
		return
	}
	if child := r.item.ChildMenu; child != nil {
		l.menu.closeAbove(l)
		row := fyne.CurrentApp().Driver().AbsolutePositionForObject(r)
		l.menu.open(child.Items, fyne.NewPos(l.box.Position().X+l.box.Size().Width, row.Y-menuEdge), l.box.Size().Width)
		if byKey {
			l.menu.last().move(1)
		}
		return
	}
	l.menu.dismiss()
	Call(r.item.Action)
}

// menuRow is a line of a menu, or a separator.
type menuRow struct {
	Composite
	level      *menuLevel
	index      int
	item       *fyne.MenuItem
	background *Rect
}

// menuRowHeight is the height of a line at the normal text size.
const menuRowHeight = 28

func newMenuRow(l *menuLevel, index int, item *fyne.MenuItem, checks, icons bool) *menuRow {
	r := &menuRow{level: l, index: index, item: item, background: NewRect("", "", style.Corner-2)}
	if item.IsSeparator {
		r.Compose(r, Inset(menuEdge, 0, menuEdge, 0, HLine()))
		return r
	}
	icon := func(res fyne.Resource) fyne.CanvasObject {
		box := NewRect("", "", 0)
		box.SetMinSize(fyne.NewSquareSize(style.Size("iconInlineSize")))
		return container.NewStack(box, widget.NewIcon(res))
	}
	label := NewText(item.Label, Choose(item.Disabled, style.ColorMuted, style.ColorText), "text")
	parts := []fyne.CanvasObject{}
	if checks {
		var mark fyne.Resource
		if item.Checked {
			mark = style.Icon("check")
		}
		parts = append(parts, icon(mark))
	}
	if icons {
		parts = append(parts, icon(item.Icon))
	}
	parts = append(parts, label)
	stretch := len(parts) - 1
	if name := KeyName(item.Shortcut); name != "" {
		keys := NewText(name, style.ColorMuted, style.SizeSmall)
		parts = append(parts, Inset(0, 0, 0, style.Group, keys))
	}
	if item.ChildMenu != nil {
		parts = append(parts, icon(style.IconIn("right", style.ColorMuted)))
	}
	height := NewRect("", "", 0)
	height.SetMinSize(fyne.NewSize(0, menuRowHeight*style.Size("text")/14))
	r.Compose(r, container.NewStack(r.background, height, Inset(0, style.Inside, 0, style.Inside, Row(style.Inside, stretch, parts...))))
	return r
}

// canChoose reports whether the row is a line that can be chosen.
func (r *menuRow) canChoose() bool {
	return !r.item.IsSeparator && !r.item.Disabled && (r.item.Action != nil || r.item.ChildMenu != nil)
}

// Tapped implements fyne.Tappable.
func (r *menuRow) Tapped(*fyne.PointEvent) { r.level.choose(r.index, false) }

// MouseIn implements desktop.Hoverable: the row is highlighted, and its submenu opens.
func (r *menuRow) MouseIn(*desktop.MouseEvent) {
	isOpen := r.level.active == r.index && r.level != r.level.menu.last()
	r.level.activate(r.index)
	switch {
	case isOpen:
	case r.item.ChildMenu != nil:
		r.level.choose(r.index, false)
	default:
		r.level.menu.closeAbove(r.level)
	}
}

// MouseMoved implements desktop.Hoverable.
func (r *menuRow) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (r *menuRow) MouseOut() {}
