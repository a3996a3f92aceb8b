package widgets

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/style"
)

// pressable handles the mouse, the keyboard and the focus of a button.
type pressable struct {
	widget.DisableableWidget
	OnTap func()
	Name  string // for reading aids if no text says what it does or sets
	// OnKey receives each key first while the object has the focus; it may consume it.
	OnKey func(fyne.KeyName) bool
	// OnHover is called when the mouse comes over the object or leaves it, also while disabled.
	OnHover func(on bool)

	hovered, focused bool
	byKey            bool   // OnTap is called for a key
	changed          func() // shows whether it is hovered and focused
}

// Tapped implements fyne.Tappable. The toolkit reports a click before the moves of the mouse that
// came in the same frame. After a long frame it can thus report a click to the button that the
// mouse was over before. So a click counts only if the mouse is still here after the moves.
func (p *pressable) Tapped(e *fyne.PointEvent) {
	if e == nil || !p.hovered { // for a key, or without a mouse
		p.tap()
		return
	}
	bind.Do(context.Background(), func() {
		if p.hovered {
			p.tap()
		}
	})
}

func (p *pressable) tap() {
	if !p.Disabled() {
		Call(p.OnTap)
	}
}

// FocusGained implements fyne.Focusable.
func (p *pressable) FocusGained() { p.focused = true; p.changed() }

// FocusLost implements fyne.Focusable.
func (p *pressable) FocusLost() { p.focused = false; p.changed() }

// TypedRune implements fyne.Focusable.
func (p *pressable) TypedRune(r rune) {
	if r == ' ' && p.OnKey == nil {
		p.press()
	}
}

// press taps it by key.
func (p *pressable) press() {
	p.byKey = true
	p.tap()
	p.byKey = false
}

// isPressedByKey reports whether OnTap was called for a key: a menu then highlights its first line.
func (p *pressable) isPressedByKey() bool { return p.byKey }

// typedKey handles a key of the object o.
func (p *pressable) typedKey(o fyne.CanvasObject, e *fyne.KeyEvent) {
	switch {
	case p.OnKey != nil && p.OnKey(e.Name):
	case e.Name == fyne.KeyReturn, e.Name == fyne.KeyEnter, e.Name == fyne.KeySpace && p.OnKey != nil:
		p.press()
	case e.Name == fyne.KeyEscape:
		PassKey(o, e)
	}
}

// MouseIn implements desktop.Hoverable.
func (p *pressable) MouseIn(*desktop.MouseEvent) { p.hover(true) }

// MouseMoved implements desktop.Hoverable.
func (p *pressable) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (p *pressable) MouseOut() { p.hover(false) }

func (p *pressable) hover(on bool) {
	p.hovered = on
	p.changed()
	CallWith(p.OnHover, on)
}

// HasKeyboard reports whether typing goes to the object: it has the focus of its window, and the
// window that of the desktop.
func (p *pressable) HasKeyboard() bool { return p.focused }

// Button is a compact button with a text, an icon, or both. Enter and Space press it. A text without
// room ends in an ellipsis.
type Button struct {
	pressable
	Text         string
	Icon         string // name in package assets; empty for none
	TrailingIcon string // an icon after the text, such as "down"
	Primary      bool   // in the accent colour: one per view
	Quiet        bool   // no background until the mouse is over it
	Danger       bool   // in the colour of errors
	Warn         bool   // in the colour of what needs the person's attention
	Muted        bool   // text in the secondary colour
	Small        bool   // 12 instead of 14
	Widest       string // a text for which the button has room, so that a change to it moves nothing
}

// NewButton creates a button.
func NewButton(text, icon string, onTap func()) *Button {
	b := &Button{Text: text, Icon: icon}
	b.OnTap, b.changed = onTap, b.Refresh
	b.ExtendBaseWidget(b)
	return b
}

// NewQuietButton creates a button without a background.
func NewQuietButton(text, icon string, onTap func()) *Button {
	b := NewButton(text, icon, onTap)
	b.Quiet = true
	return b
}

// NewIconButton creates a quiet button that shows an icon alone; reading aids read its name.
func NewIconButton(icon, name string, onTap func()) *Button {
	b := NewQuietButton("", icon, onTap)
	b.Name = name
	return b
}

// SetText changes the text.
func (b *Button) SetText(text string) { b.Set(text, b.Icon) }

// Set changes text and icon.
func (b *Button) Set(text, icon string) {
	if b.Text != text || b.Icon != icon {
		b.Text, b.Icon = text, icon
		b.Refresh()
	}
}

// TypedKey implements fyne.Focusable.
func (b *Button) TypedKey(e *fyne.KeyEvent) { b.typedKey(b, e) }

// Cursor implements desktop.Cursorable.
func (b *Button) Cursor() desktop.Cursor {
	return Choose(b.Disabled(), desktop.DefaultCursor, desktop.PointerCursor)
}

// CreateRenderer implements fyne.Widget.
func (b *Button) CreateRenderer() fyne.WidgetRenderer {
	r := &buttonRenderer{b: b, background: canvas.NewRectangle(nil), text: canvas.NewText("", nil), icon: widget.NewIcon(nil), trail: widget.NewIcon(nil)}
	r.parts = []fyne.CanvasObject{r.icon, r.text, r.trail}
	r.Refresh()
	return r
}

type buttonRenderer struct {
	b           *Button
	background  *canvas.Rectangle
	text        *canvas.Text
	icon, trail *widget.Icon
	parts       []fyne.CanvasObject // from left to right
}

const (
	buttonPad    float32 = 8
	buttonHeight float32 = 28
	smallHeight  float32 = 24
)

func (r *buttonRenderer) Refresh() {
	b := r.b
	fg := Choose(b.Muted, style.ColorMuted, style.ColorText)
	fill := Choose(b.Quiet, "", fyne.ThemeColorName("button"))
	switch {
	case b.Disabled():
		fg, fill = "disabled", Choose(b.Quiet, "", fyne.ThemeColorName("disabledButton"))
	case b.Primary:
		fg, fill = style.ColorOnAccent, style.ColorAccent
	case b.Danger:
		fg = style.ColorBad
	case b.Warn:
		fg = style.ColorNeedsYou
	}
	if b.hovered && !b.Disabled() && !b.Primary {
		fill = Choose(b.Quiet, style.ColorHover, "pressed")
	}
	r.background.FillColor, r.background.StrokeColor, r.background.StrokeWidth = nil, nil, 0
	if fill != "" {
		r.background.FillColor = style.Color(fill)
	}
	if b.focused {
		r.background.StrokeColor = style.Color(Choose(b.Primary, style.ColorText, style.ColorAccent))
		r.background.StrokeWidth = 2
		if r.background.FillColor == nil {
			r.background.FillColor = invisible(r.background.StrokeColor)
		}
	}
	r.background.CornerRadius = style.Corner
	r.text.Text, r.text.Color = b.Text, style.Color(fg)
	SetVisible(r.text, b.Text != "")
	r.text.TextSize = style.Size(Choose(b.Small, style.SizeSmall, "text"))
	r.text.TextStyle.Bold = b.Primary
	r.text.FontSource = singleFont(b.Text, r.text.TextStyle)
	SetIcon(r.icon, b.Icon, fg)
	SetIcon(r.trail, b.TrailingIcon, fg)
	r.icon.Refresh()
	r.trail.Refresh()
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
	if r := style.IconIn(name, c); i.Resource != r {
		i.SetResource(r)
	}
	SetVisible(i, true)
}

// buttonRow lays out the parts of a button.
var buttonRow = &rowLayout{gap: style.Gap, stretch: -1}

func (r *buttonRenderer) MinSize() fyne.Size {
	m := buttonRow.MinSize(r.parts)
	h := max(Choose(r.b.Small, smallHeight, buttonHeight), m.Height+8)
	if r.b.Text != "" { // which may be shortened now
		width := func(text string) float32 { return MeasureText(text, r.text.TextSize, r.text.TextStyle).Width }
		m.Width += max(width(r.b.Widest), width(r.b.Text)) - r.text.MinSize().Width
	}
	pad := Choose(r.b.Text == "", max((h-m.Width)/2, 2), buttonPad)
	return fyne.NewSize(m.Width+2*pad, h)
}

func (r *buttonRenderer) Layout(size fyne.Size) {
	r.background.Resize(size)
	r.text.Text = r.b.Text
	if over := buttonRow.MinSize(r.parts).Width - size.Width; over > 0.5 && r.b.Text != "" && size.Width > 0 {
		r.text.Text = truncate(r.b.Text, max(r.text.MinSize().Width-over, 0), r.text.TextSize, r.text.TextStyle)
	}
	buttonRow.Layout(r.parts, size)
	left := (size.Width - buttonRow.MinSize(r.parts).Width) / 2
	for _, p := range r.parts {
		p.Move(p.Position().AddXY(left, 0))
	}
}

func (r *buttonRenderer) Objects() []fyne.CanvasObject {
	return append([]fyne.CanvasObject{r.background}, r.parts...)
}
func (r *buttonRenderer) Destroy() {}

// SplitButton performs an action, and offers others in a menu.
type SplitButton struct {
	Composite
	Main *Button
	More *Button
	menu func() []*fyne.MenuItem
}

// NewSplitButton creates one; menu is called each time the menu opens.
func NewSplitButton(text string, primary bool, onTap func(), menu func() []*fyne.MenuItem) *SplitButton {
	s := &SplitButton{Main: NewButton(text, "", onTap), menu: menu}
	s.More = NewButton("", "down", s.Open)
	s.More.Name = "More choices"
	s.Main.Primary, s.More.Primary = primary, primary
	s.Compose(s, Row(1, 0, s.Main, s.More))
	return s
}

// Open shows the menu.
func (s *SplitButton) Open() { ShowMenu(s, s.menu()) }

// Enable enables and Disable disables both halves.
func (s *SplitButton) Enable() { s.Main.Enable(); s.More.Enable() }

func (s *SplitButton) Disable() { s.Main.Disable(); s.More.Disable() }
