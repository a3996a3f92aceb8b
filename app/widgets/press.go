package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Press makes any content a button: tap, Enter and Space press it; it shows hover and focus.
type Press struct {
	widget.BaseWidget
	OnTap func()
	// OnMenu is called for a secondary tap, with its position on the canvas.
	OnMenu func(at fyne.Position)
	// OnKey receives the other keys, and reports whether it consumed one.
	OnKey func(fyne.KeyName) bool

	ground  *Rect
	box     *fyne.Container
	plain   fyne.ThemeColorName
	hovered bool
	focused bool
}

var (
	_ fyne.Tappable          = (*Press)(nil)
	_ fyne.SecondaryTappable = (*Press)(nil)
	_ fyne.Focusable         = (*Press)(nil)
	_ desktop.Hoverable      = (*Press)(nil)
)

// NewPress wraps content.
func NewPress(content fyne.CanvasObject, onTap func()) *Press {
	p := &Press{OnTap: onTap, ground: NewRect("", "", style.Corner)}
	p.box = container.NewStack(p.ground, content)
	p.ExtendBaseWidget(p)
	return p
}

// SetGround sets a background; empty is none.
func (p *Press) SetGround(c fyne.ThemeColorName) { p.plain = c; p.paint() }

func (p *Press) paint() {
	fill, line := p.plain, fyne.ThemeColorName("")
	if p.hovered && fill != style.ColorSelected { // a selected row stays so under the mouse
		fill = style.ColorHover
	}
	if p.focused {
		line = style.ColorAccent
	}
	if p.ground.Fill != fill || p.ground.Line != line {
		p.ground.Fill, p.ground.Line = fill, line
		p.ground.Refresh()
	}
}

// Tapped implements fyne.Tappable.
func (p *Press) Tapped(*fyne.PointEvent) {
	if p.OnTap != nil {
		p.OnTap()
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (p *Press) TappedSecondary(e *fyne.PointEvent) {
	if p.OnMenu != nil {
		p.OnMenu(e.AbsolutePosition)
	}
}

// FocusGained implements fyne.Focusable.
func (p *Press) FocusGained() { p.focused = true; p.paint() }

// FocusLost implements fyne.Focusable.
func (p *Press) FocusLost() { p.focused = false; p.paint() }

// TypedRune implements fyne.Focusable.
func (p *Press) TypedRune(r rune) {
	if r == ' ' {
		p.Tapped(nil)
	}
}

// TypedKey implements fyne.Focusable.
func (p *Press) TypedKey(e *fyne.KeyEvent) {
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
func (p *Press) MouseIn(*desktop.MouseEvent) { p.hovered = true; p.paint() }

// MouseMoved implements desktop.Hoverable.
func (p *Press) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (p *Press) MouseOut() { p.hovered = false; p.paint() }

// CreateRenderer implements fyne.Widget.
func (p *Press) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(p.box) }
