package terminal

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// display shows the screen of a terminal and its history, and takes keys and the mouse. It belongs to
// the GUI thread.
type display struct {
	widget.BaseWidget
	view  *viewport
	keys  *keyboard
	mouse *pointer
}

// newDisplay creates one that shows the screen of a model. open opens a link.
func newDisplay(m *Model, open, copy func(string)) *display {
	d := &display{view: newViewport(m)}
	d.keys = &keyboard{owner: d, view: d.view, copy: copy}
	d.mouse = &pointer{keys: d.keys, view: d.view, open: open}
	d.ExtendBaseWidget(d)
	return d
}

// Resize implements fyne.CanvasObject.
func (d *display) Resize(s fyne.Size) {
	if s != d.Size() {
		d.BaseWidget.Resize(s)
		d.view.resize(s)
	}
}

// Refresh implements fyne.CanvasObject: it draws everything, such as in another theme.
func (d *display) Refresh() { d.view.restyle() }

// MinSize implements fyne.CanvasObject.
func (d *display) MinSize() fyne.Size {
	return fyne.NewSize(20*d.view.cell.Width+2*inset, 4*d.view.cell.Height+2*inset)
}

// FocusGained implements fyne.Focusable.
func (d *display) FocusGained() { d.keys.setFocus(true) }

// FocusLost implements fyne.Focusable.
func (d *display) FocusLost() { d.keys.setFocus(false) }

// TypedRune implements fyne.Focusable.
func (d *display) TypedRune(r rune) { d.keys.typed(string(r)) }

// TypedKey implements fyne.Focusable.
func (d *display) TypedKey(e *fyne.KeyEvent) { d.keys.key(e.Name, widgets.KeyModifiers()) }

// AcceptsTab implements fyne.Tabbable. Ctrl and Tab leave the terminal.
func (d *display) AcceptsTab() bool { return true }

// TypedShortcut implements fyne.Shortcutable.
func (d *display) TypedShortcut(s fyne.Shortcut) { d.keys.shortcut(s) }

// MouseDown implements desktop.Mouseable.
func (d *display) MouseDown(e *desktop.MouseEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(d); c != nil {
		c.Focus(d)
	}
	d.mouse.press(e)
}

// MouseUp implements desktop.Mouseable.
func (d *display) MouseUp(e *desktop.MouseEvent) {
	d.mouse.report(buttonNumber(e.Button), e.Position, false)
}

// Dragged implements fyne.Draggable.
func (d *display) Dragged(e *fyne.DragEvent) { d.mouse.drag(e.Position) }

// DragEnd implements fyne.Draggable.
func (d *display) DragEnd() {}

// DoubleTapped implements fyne.DoubleTappable.
func (d *display) DoubleTapped(e *fyne.PointEvent) { d.view.selectWord(e.Position) }

// TappedSecondary implements fyne.SecondaryTappable.
func (d *display) TappedSecondary(e *fyne.PointEvent) { d.mouse.menu(e) }

// Scrolled implements fyne.Scrollable.
func (d *display) Scrolled(e *fyne.ScrollEvent) {
	d.mouse.scroll(e.Scrolled.DY, e.AbsolutePosition.Subtract(fyne.CurrentApp().Driver().AbsolutePositionForObject(d)))
}

// AccessibilityLabel implements fyne.Accessible.
func (d *display) AccessibilityLabel() string {
	text := "Terminal"
	for _, l := range d.view.lines {
		text = widgets.JoinTexts(text, textOf(l.cells))
	}
	return text
}

// AccessibilityRole implements fyne.Accessible.
func (d *display) AccessibilityRole() fyne.AccessibleRole { return fyne.AccessibleRoleText }

// Cursor implements desktop.Cursorable.
func (d *display) Cursor() desktop.Cursor { return desktop.TextCursor }

// CreateRenderer implements fyne.Widget.
func (d *display) CreateRenderer() fyne.WidgetRenderer {
	r := &displayRenderer{view: d.view, minSize: d.MinSize, ground: widgets.NewRect(style.ColorCode, "", 4)}
	d.view.redraw, d.view.rebuild = r.redraw, r.Refresh
	r.Refresh()
	return r
}
