package widgets

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// ShiftEntry is an entry that knows whether Shift is pressed.
type ShiftEntry struct {
	widget.Entry
	Shift bool
}

// KeyDown implements desktop.Keyable.
func (e *ShiftEntry) KeyDown(k *fyne.KeyEvent) {
	e.Shift = e.Shift || k.Name == desktop.KeyShiftLeft || k.Name == desktop.KeyShiftRight
	e.Entry.KeyDown(k)
}

// KeyUp implements desktop.Keyable.
func (e *ShiftEntry) KeyUp(k *fyne.KeyEvent) {
	e.Shift = e.Shift && k.Name != desktop.KeyShiftLeft && k.Name != desktop.KeyShiftRight
	e.Entry.KeyUp(k)
}

// FocusLost implements fyne.Focusable. It resets Shift, whose release would not be reported.
func (e *ShiftEntry) FocusLost() {
	e.Shift = false
	e.Entry.FocusLost()
}

// SearchField is an entry for searching. Esc clears it, then calls OnCancel.
type SearchField struct {
	ShiftEntry
	OnCancel func()
	OnMove   func(by int)
	OnChoose func()
}

// NewSearchField creates an empty field; key is the shortcut shown at its right, or empty.
func NewSearchField(placeholder, key string) *SearchField {
	s := &SearchField{}
	if key != "" {
		s.ActionItem = Inset(0, style.Inside, 0, 0, NewText(key, style.ColorMuted, style.SizeSmall))
	}
	s.ExtendBaseWidget(s)
	s.SetPlaceHolder(placeholder)
	s.SetIcon(style.IconInField("search", style.ColorMuted))
	return s
}

// TypedShortcut implements fyne.Shortcutable.
func (s *SearchField) TypedShortcut(k fyne.Shortcut) {
	s.Entry.TypedShortcut(k)
	PassShortcut(s, k)
}

// TypedKey implements fyne.Focusable.
func (s *SearchField) TypedKey(e *fyne.KeyEvent) {
	switch {
	case e.Name == fyne.KeyEscape && s.Text != "":
		s.SetText("")
	case e.Name == fyne.KeyEscape && s.OnCancel != nil:
		s.OnCancel()
	case e.Name == fyne.KeyUp && s.OnMove != nil:
		s.OnMove(-1)
	case e.Name == fyne.KeyDown && s.OnMove != nil:
		s.OnMove(1)
	case (e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter) && s.OnChoose != nil:
		s.OnChoose()
	default:
		s.Entry.TypedKey(e)
	}
}

// NameField is an entry that edits a name in place: Enter submits it, Escape calls OnCancel.
type NameField struct {
	widget.Entry
	OnCancel func()
}

// NewNameField creates an empty field.
func NewNameField() *NameField {
	f := &NameField{}
	f.ExtendBaseWidget(f)
	return f
}

// TypedKey implements fyne.Focusable.
func (f *NameField) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyEscape {
		f.OnCancel()
		return
	}
	f.Entry.TypedKey(e)
}

// TextArea is a multi-line entry for forms: Tab moves to the next field.
type TextArea struct{ widget.Entry }

// NewTextArea creates an empty one with a number of visible lines.
func NewTextArea(lines int, hint string) *TextArea {
	t := &TextArea{}
	t.MultiLine, t.Wrapping = true, fyne.TextWrapWord
	t.ExtendBaseWidget(t)
	t.SetMinRowsVisible(lines)
	t.SetPlaceHolder(hint)
	return t
}

// AcceptsTab implements fyne.Tabbable.
func (t *TextArea) AcceptsTab() bool { return false }

// TypedShortcut implements fyne.Shortcutable; it passes unused shortcuts to the window.
func (t *TextArea) TypedShortcut(k fyne.Shortcut) {
	t.Entry.TypedShortcut(k)
	PassShortcut(t, k)
}

// Select is Fyne's select widget with a border, to be seen on a light page.
type Select struct{ widget.Select }

// NewSelect creates one; changed may be nil.
func NewSelect(options []string, changed func(string)) *Select {
	s := &Select{}
	s.Options, s.OnChanged = options, changed
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer implements fyne.Widget.
func (s *Select) CreateRenderer() fyne.WidgetRenderer {
	r := &selectRenderer{WidgetRenderer: s.Select.CreateRenderer(), border: NewRect("", "inputBorder", style.Corner)}
	r.objects = slices.Concat(r.WidgetRenderer.Objects(), []fyne.CanvasObject{r.border})
	return r
}

type selectRenderer struct {
	fyne.WidgetRenderer
	border  *Rect
	objects []fyne.CanvasObject
}

func (r *selectRenderer) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	r.border.Resize(size)
}

func (r *selectRenderer) Refresh() {
	r.WidgetRenderer.Refresh()
	r.border.Refresh()
}

func (r *selectRenderer) Objects() []fyne.CanvasObject { return r.objects }
