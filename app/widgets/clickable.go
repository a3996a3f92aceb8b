package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Clickable makes any content a button: tap, Enter and Space press it; it shows hover and focus.
type Clickable struct {
	pressable
	// OnMenu is called for a secondary tap, with its position on the canvas.
	OnMenu func(at fyne.Position)

	background *Rect
	box        *fyne.Container
	base       fyne.ThemeColorName
}

// NewClickable wraps content.
func NewClickable(content fyne.CanvasObject, onTap func()) *Clickable {
	p := &Clickable{background: NewRect("", "", style.Corner)}
	p.OnTap, p.changed = onTap, p.paint
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
	p.background.Set(fill, line)
}

// TappedSecondary implements fyne.SecondaryTappable.
func (p *Clickable) TappedSecondary(e *fyne.PointEvent) { CallWith(p.OnMenu, e.AbsolutePosition) }

// TypedKey implements fyne.Focusable.
func (p *Clickable) TypedKey(e *fyne.KeyEvent) { p.typedKey(p, e) }

// CreateRenderer implements fyne.Widget.
func (p *Clickable) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(p.box) }

// TapArea shows an object and handles clicks on it, but never has the focus.
type TapArea struct {
	Composite
	onTap func()
}

// NewTapArea creates one.
func NewTapArea(content fyne.CanvasObject, onTap func()) *TapArea {
	a := &TapArea{onTap: onTap}
	a.Compose(a, content)
	return a
}

// Tapped implements fyne.Tappable.
func (a *TapArea) Tapped(*fyne.PointEvent) { a.onTap() }

// NewChip creates a rounded button with a short text.
func NewChip(text, icon string, onTap func()) *Clickable {
	line := Row(6, -1, NewText(text, style.ColorText, "text"))
	if icon != "" {
		line.Objects = append([]fyne.CanvasObject{widget.NewIcon(style.IconIn(icon, style.ColorMuted))}, line.Objects...)
	}
	p := NewClickable(container.NewStack(NewRect("", style.ColorLine, 14), Inset(6, 12, 6, 12, line)), onTap)
	p.background.Corner = 14
	p.SetBackground(style.ColorSurface)
	return p
}
