package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Clickable makes any content a button: tap, Enter and Space press it; it shows hover and focus.
type Clickable struct {
	widget.BaseWidget
	OnTap func()
	// OnMenu is called for a secondary tap, with its position on the canvas.
	OnMenu func(at fyne.Position)
	// OnKey receives the other keys, and reports whether it consumed one.
	OnKey func(fyne.KeyName) bool

	background *Rect
	box        *fyne.Container
	base       fyne.ThemeColorName
	hovered    bool
	focused    bool
}

var (
	_ fyne.Tappable          = (*Clickable)(nil)
	_ fyne.SecondaryTappable = (*Clickable)(nil)
	_ fyne.Focusable         = (*Clickable)(nil)
	_ desktop.Hoverable      = (*Clickable)(nil)
)

// NewClickable wraps content.
func NewClickable(content fyne.CanvasObject, onTap func()) *Clickable {
	p := &Clickable{OnTap: onTap, background: NewRect("", "", style.Corner)}
	p.box = container.NewStack(p.background, content)
	p.ExtendBaseWidget(p)
	return p
}

// SetBackground sets a background; empty means none.
func (p *Clickable) SetBackground(c fyne.ThemeColorName) { p.base = c; p.paint() }

func (p *Clickable) paint() {
	fill, line := p.base, fyne.ThemeColorName("")
	if p.hovered && fill != style.ColorSelected { // a selected row stays so under the mouse
		fill = style.ColorHover
	}
	if p.focused {
		line = style.ColorAccent
	}
	if p.background.Fill != fill || p.background.Line != line {
		p.background.Fill, p.background.Line = fill, line
		p.background.Refresh()
	}
}

// Tapped implements fyne.Tappable.
func (p *Clickable) Tapped(*fyne.PointEvent) {
	if p.OnTap != nil {
		p.OnTap()
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (p *Clickable) TappedSecondary(e *fyne.PointEvent) {
	if p.OnMenu != nil {
		p.OnMenu(e.AbsolutePosition)
	}
}

// FocusGained implements fyne.Focusable.
func (p *Clickable) FocusGained() { p.focused = true; p.paint() }

// FocusLost implements fyne.Focusable.
func (p *Clickable) FocusLost() { p.focused = false; p.paint() }

// TypedRune implements fyne.Focusable.
func (p *Clickable) TypedRune(r rune) {
	if r == ' ' {
		p.Tapped(nil)
	}
}

// TypedKey implements fyne.Focusable.
func (p *Clickable) TypedKey(e *fyne.KeyEvent) {
	if p.OnKey != nil && p.OnKey(e.Name) {
		return
	}
	if e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		p.Tapped(nil)
		return
	}
	if e.Name == fyne.KeyEscape {
		PassKey(p, e)
	}
}

// MouseIn implements desktop.Hoverable.
func (p *Clickable) MouseIn(*desktop.MouseEvent) { p.hovered = true; p.paint() }

// MouseMoved implements desktop.Hoverable.
func (p *Clickable) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (p *Clickable) MouseOut() { p.hovered = false; p.paint() }

// CreateRenderer implements fyne.Widget.
func (p *Clickable) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(p.box) }
