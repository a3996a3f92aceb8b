package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Button is a compact button with a text, an icon, or both. Enter and Space press it.
type Button struct {
	widget.DisableableWidget
	Text         string
	Icon         string // name in package assets; empty for none
	TrailingIcon string // an icon after the text, such as "down"
	Primary      bool   // in the accent colour: one per view
	Quiet        bool   // no background until the mouse is over it
	Danger       bool   // in the colour of errors
	Muted        bool   // text in the secondary colour
	Small        bool   // 12 instead of 14
	OnTap        func()
	// OnKey receives each key first while the button has the focus, including Space; it reports
	// whether it consumed it.
	OnKey func(fyne.KeyName) bool

	hovered, focused bool
}

var (
	_ fyne.Tappable      = (*Button)(nil)
	_ fyne.Focusable     = (*Button)(nil)
	_ desktop.Hoverable  = (*Button)(nil)
	_ fyne.Disableable   = (*Button)(nil)
	_ desktop.Cursorable = (*Button)(nil)
)

// NewButton creates a button.
func NewButton(text, icon string, onTap func()) *Button {
	b := &Button{Text: text, Icon: icon, OnTap: onTap}
	b.ExtendBaseWidget(b)
	return b
}

// NewQuietButton creates a button without a background.
func NewQuietButton(text, icon string, onTap func()) *Button {
	b := NewButton(text, icon, onTap)
	b.Quiet = true
	return b
}

// SetText changes the text.
func (b *Button) SetText(text string) {
	if b.Text != text {
		b.Text = text
		b.Refresh()
	}
}

// Set changes text and icon.
func (b *Button) Set(text, icon string) {
	if b.Text != text || b.Icon != icon {
		b.Text, b.Icon = text, icon
		b.Refresh()
	}
}

// Tapped implements fyne.Tappable.
func (b *Button) Tapped(*fyne.PointEvent) {
	if !b.Disabled() && b.OnTap != nil {
		b.OnTap()
	}
}

// FocusGained implements fyne.Focusable.
func (b *Button) FocusGained() { b.focused = true; b.Refresh() }

// FocusLost implements fyne.Focusable.
func (b *Button) FocusLost() { b.focused = false; b.Refresh() }

// TypedRune implements fyne.Focusable.
func (b *Button) TypedRune(r rune) {
	if r == ' ' && b.OnKey == nil {
		b.Tapped(nil)
	}
}

// TypedKey implements fyne.Focusable.
func (b *Button) TypedKey(e *fyne.KeyEvent) {
	if b.OnKey != nil && b.OnKey(e.Name) {
		return
	}
	if e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter || e.Name == fyne.KeySpace && b.OnKey != nil {
		b.Tapped(nil)
		return
	}
	if b.OnKey == nil && e.Name == fyne.KeyEscape {
		PassKey(b, e)
	}
}

// MouseIn implements desktop.Hoverable.
func (b *Button) MouseIn(*desktop.MouseEvent) { b.hovered = true; b.Refresh() }

// MouseMoved implements desktop.Hoverable.
func (b *Button) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (b *Button) MouseOut() { b.hovered = false; b.Refresh() }

// Cursor implements desktop.Cursorable.
func (b *Button) Cursor() desktop.Cursor {
	if b.Disabled() {
		return desktop.DefaultCursor
	}
	return desktop.PointerCursor
}

// CreateRenderer implements fyne.Widget.
func (b *Button) CreateRenderer() fyne.WidgetRenderer {
	r := &buttonRenderer{b: b, background: canvas.NewRectangle(nil), text: canvas.NewText("", nil), icon: widget.NewIcon(nil), trail: widget.NewIcon(nil)}
	r.Refresh()
	return r
}

type buttonRenderer struct {
	b           *Button
	background  *canvas.Rectangle
	text        *canvas.Text
	icon, trail *widget.Icon
	shown       [3]string // icon, trail, colour: resources are recreated only when these change
}

const (
	buttonPad    float32 = 8
	buttonHeight float32 = 28
	smallHeight  float32 = 24
)

func (r *buttonRenderer) Refresh() {
	b := r.b
	fg := style.ColorText
	fill := fyne.ThemeColorName("button")
	if b.Muted {
		fg = style.ColorMuted
	}
	if b.Quiet {
		fill = ""
	}
	switch {
	case b.Disabled():
		fg = "disabled"
		if fill != "" {
			fill = "disabledButton"
		}
	case b.Primary:
		fg, fill = style.ColorOnAccent, style.ColorAccent
	case b.Danger:
		fg = style.ColorBad
	}
	r.background.FillColor, r.background.StrokeWidth = nil, 0
	if fill != "" {
		r.background.FillColor = style.Color(fill)
	}
	if b.hovered && !b.Disabled() && !b.Primary {
		r.background.FillColor = style.Color("pressed")
		if b.Quiet {
			r.background.FillColor = style.Color(style.ColorHover)
		}
	}
	r.background.StrokeColor = nil
	if b.focused {
		r.background.StrokeColor, r.background.StrokeWidth = style.Color(style.ColorAccent), 2
		if b.Primary {
			r.background.StrokeColor = style.Color(style.ColorText)
		}
	}
	r.background.CornerRadius = style.Corner
	r.text.Text, r.text.Color = b.Text, style.Color(fg)
	r.text.TextSize = style.Size("text")
	if b.Small {
		r.text.TextSize = style.Size(style.SizeSmall)
	}
	r.text.TextStyle.Bold = b.Primary
	r.text.FontSource = singleFont(b.Text, r.text.TextStyle)
	if now := [3]string{b.Icon, b.TrailingIcon, string(fg)}; now != r.shown {
		r.shown = now
		SetIcon(r.icon, b.Icon, fg)
		SetIcon(r.trail, b.TrailingIcon, fg)
	} else {
		r.icon.Refresh()
		r.trail.Refresh()
	}
	r.Layout(b.Size())
	r.background.Refresh()
	r.text.Refresh()
}

// SetIcon shows an icon of package assets in a colour; an empty name hides it.
func SetIcon(i *widget.Icon, name string, c fyne.ThemeColorName) {
	if name == "" {
		i.Hide()
		return
	}
	i.SetResource(style.IconIn(name, c))
	i.Show()
}

func (r *buttonRenderer) parts() []fyne.CanvasObject {
	var parts []fyne.CanvasObject
	if r.b.Icon != "" {
		parts = append(parts, r.icon)
	}
	if r.b.Text != "" {
		parts = append(parts, r.text)
	}
	if r.b.TrailingIcon != "" {
		parts = append(parts, r.trail)
	}
	return parts
}

func partSize(o fyne.CanvasObject) fyne.Size {
	if t, ok := o.(*canvas.Text); ok {
		return t.MinSize()
	}
	return fyne.NewSquareSize(iconSize())
}

func (r *buttonRenderer) MinSize() fyne.Size {
	h := buttonHeight
	if r.b.Small {
		h = smallHeight
	}
	w := float32(0)
	for i, p := range r.parts() {
		s := partSize(p)
		w += s.Width
		h = max(h, s.Height+8)
		if i > 0 {
			w += style.Gap
		}
	}
	pad := buttonPad
	if r.b.Text == "" {
		pad = max((h-w)/2, 2)
	}
	return fyne.NewSize(w+2*pad, h)
}

func (r *buttonRenderer) Layout(size fyne.Size) {
	r.background.Resize(size)
	w := float32(0)
	parts := r.parts()
	for i, p := range parts {
		w += partSize(p).Width
		if i > 0 {
			w += style.Gap
		}
	}
	x := (size.Width - w) / 2
	for _, p := range parts {
		s := partSize(p)
		p.Resize(s)
		p.Move(fyne.NewPos(x, (size.Height-s.Height)/2))
		x += s.Width + style.Gap
	}
}

func (r *buttonRenderer) Objects() []fyne.CanvasObject {
	return append([]fyne.CanvasObject{r.background}, r.parts()...)
}
func (r *buttonRenderer) Destroy() {}
