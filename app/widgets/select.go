package widgets

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// maxSelectWidth is the longest text for which a select asks for room. Longer ones are cut.
const maxSelectWidth = 240

// Select is a field that shows one of several texts, and offers the others in a menu.
type Select struct {
	pressable
	Options     []string
	Selected    string // empty for none
	PlaceHolder string // shown while nothing is selected
	OnChanged   func(string)

	text       *Text
	background *canvas.Rectangle
}

// NewSelect creates one; changed may be nil.
func NewSelect(options []string, changed func(string)) *Select {
	s := &Select{Options: options, OnChanged: changed, text: NewText("", style.ColorText, "text"), background: canvas.NewRectangle(nil)}
	s.text.Ellipsis = true
	s.OnTap, s.changed = s.open, s.Refresh
	s.OnKey = func(key fyne.KeyName) bool {
		opens := key == fyne.KeyDown || key == fyne.KeyUp
		if opens {
			s.press()
		}
		return opens
	}
	s.ExtendBaseWidget(s)
	return s
}

func (s *Select) open() {
	var items []*fyne.MenuItem
	for _, o := range s.Options {
		item := fyne.NewMenuItem(o, func() { s.SetSelected(o) })
		item.Checked = o == s.Selected
		items = append(items, item)
	}
	ShowMenu(s, items)
}

// SetSelected selects one of the options.
func (s *Select) SetSelected(option string) {
	if option == s.Selected || !slices.Contains(s.Options, option) {
		return
	}
	s.Selected = option
	s.Refresh()
	CallWith(s.OnChanged, option)
}

// SetSelectedIndex selects an option by its index.
func (s *Select) SetSelectedIndex(i int) { s.SetSelected(s.Options[i]) }

// SelectedIndex returns the index of the selected option, or -1.
func (s *Select) SelectedIndex() int { return slices.Index(s.Options, s.Selected) }

// TypedKey implements fyne.Focusable.
func (s *Select) TypedKey(e *fyne.KeyEvent) { s.typedKey(s, e) }

// Cursor implements desktop.Cursorable.
func (s *Select) Cursor() desktop.Cursor {
	return Choose(s.Disabled(), desktop.DefaultCursor, desktop.PointerCursor)
}

// CreateRenderer implements fyne.Widget.
func (s *Select) CreateRenderer() fyne.WidgetRenderer {
	arrow := widget.NewIcon(style.IconIn("down", style.ColorMuted))
	line := Row(style.Gap, 0, s.text, arrow)
	r := &selectRenderer{WidgetRenderer: widget.NewSimpleRenderer(container.NewStack(s.background, Inset(0, buttonPad, 0, buttonPad, line))), s: s}
	r.update()
	return r
}

type selectRenderer struct {
	fyne.WidgetRenderer
	s *Select
}

// Refresh implements fyne.WidgetRenderer.
func (r *selectRenderer) Refresh() {
	r.update()
	r.WidgetRenderer.Refresh()
}

// MinSize implements fyne.WidgetRenderer.
func (r *selectRenderer) MinSize() fyne.Size {
	width := float32(0)
	for _, o := range append([]string{r.s.PlaceHolder}, r.s.Options...) {
		width = max(width, MeasureText(o, style.Size("text"), fyne.TextStyle{}).Width)
	}
	size := r.WidgetRenderer.MinSize()
	return fyne.NewSize(size.Width+min(width, maxSelectWidth), max(size.Height+8, buttonHeight)) // as of a button
}

func (r *selectRenderer) update() {
	s := r.s
	shown, color := s.Selected, style.ColorText
	if shown == "" {
		shown, color = s.PlaceHolder, style.ColorMuted
	}
	s.text.Set(shown, Choose(s.Disabled(), style.ColorMuted, color))
	s.background.FillColor = style.Color(Choose(s.hovered && !s.Disabled(), style.ColorHover, style.ColorSurface))
	s.background.CornerRadius = style.Corner
	s.background.StrokeColor, s.background.StrokeWidth = style.Color(Choose(s.focused, style.ColorAccent, style.ColorLine)), Choose[float32](s.focused, 2, 1)
	s.background.Refresh()
}
