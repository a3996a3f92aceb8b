package widgets

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Entry is a single-line text field; every other field of the program builds on it. Shortcuts that
// it does not use reach the window, and so do Escape and the function keys: Fyne calls only the
// focused widget.
type Entry struct {
	widget.Entry
	Name   string      // for reading aids; without one, they read the placeholder
	outer  fyne.Widget // the widget that embeds the field, or the field
	isPath bool
}

// NewEntry creates an empty one.
func NewEntry() *Entry {
	e := &Entry{}
	e.ExtendBaseWidget(e)
	return e
}

// SetPath sets the text to a path. The field shows its end, which says more than its start.
func (e *Entry) SetPath(path string) {
	e.isPath = true
	e.SetText(path)
	e.moveToEnd()
}

func (e *Entry) moveToEnd() {
	e.CursorColumn = len([]rune(e.Text))
	e.Entry.Refresh()
}

// NewPasswordEntry creates a field that hides its text, and a button that shows it.
func NewPasswordEntry() *Entry {
	e := &Entry{}
	e.Password = true
	e.ActionItem = NewIconButton("eye", "Show or hide the text", func() {
		e.Password = !e.Password
		e.Refresh()
	})
	e.ExtendBaseWidget(e)
	return e
}

// ExtendBaseWidget implements fyne.Widget.
func (e *Entry) ExtendBaseWidget(w fyne.Widget) {
	if e.outer == nil {
		e.outer = w
	}
	e.Entry.ExtendBaseWidget(w)
}

// TypedShortcut implements fyne.Shortcutable. Ctrl Home and Ctrl End move to the ends of the text.
func (e *Entry) TypedShortcut(s fyne.Shortcut) {
	if k, ok := s.(*desktop.CustomShortcut); ok && k.Modifier&^fyne.KeyModifierShift == fyne.KeyModifierShortcutDefault {
		switch k.KeyName { // Page Up and Page Down do in Fyne what the two keys do elsewhere
		case fyne.KeyHome:
			e.Entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageUp})
			return
		case fyne.KeyEnd:
			e.Entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageDown})
			return
		}
	}
	e.endEmptySelection()
	e.Entry.TypedShortcut(s)
	if _, ok := s.(*fyne.ShortcutUndo); !ok { // in a field, it undoes what was typed
		PassShortcut(e.outer, s)
	}
}

// AcceptsTab implements fyne.Tabbable: Tab moves to the next control, also from several lines.
func (e *Entry) AcceptsTab() bool { return false }

// TypedRune implements fyne.Focusable.
func (e *Entry) TypedRune(r rune) {
	e.endEmptySelection()
	e.Entry.TypedRune(r)
}

// endEmptySelection ends a selection without text, which Fyne keeps when the selected text is
// replaced by SetText or undone. What is typed or pasted next would be selected at once, and the
// next character would replace it.
func (e *Entry) endEmptySelection() { e.DragEnd() }

// TypedKey implements fyne.Focusable.
func (e *Entry) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape || slices.Contains(functionKeys, k.Name) {
		PassKey(e.outer, k)
		return
	}
	e.endEmptySelection()
	e.Entry.TypedKey(k)
}

// CreateRenderer implements fyne.Widget.
func (e *Entry) CreateRenderer() fyne.WidgetRenderer {
	if !e.MultiLine {
		e.Scroll = noScrollBars
	}
	r := &entryRenderer{WidgetRenderer: e.Entry.CreateRenderer(), of: e}
	r.border, _ = r.Objects()[1].(*canvas.Rectangle)
	r.frame()
	return r
}

// noScrollBars is a direction that Fyne does not know: a long line then scrolls with the cursor, but
// without a scroll bar over its text (fyne 2.8.0, widget/entry.go and internal/widget/scroller.go).
const noScrollBars = fyne.ScrollDirection(-1)

// entryRenderer gives Fyne's field the thin frame of other areas, and a thick one while it has the
// focus: Fyne draws the frame in the colour of a check box.
type entryRenderer struct {
	fyne.WidgetRenderer
	of     *Entry
	border *canvas.Rectangle
	width  float32 // of the last layout
}

// Refresh implements fyne.WidgetRenderer.
func (r *entryRenderer) Refresh() {
	r.WidgetRenderer.Refresh()
	r.frame()
}

func (r *entryRenderer) frame() {
	isFocused := r.isFocused()
	if r.border.StrokeColor == style.Color("inputBorder") {
		r.border.StrokeColor = style.Color(style.ColorLine)
	}
	r.border.StrokeWidth = Choose[float32](isFocused, 2, 1)
	r.border.FillColor = invisible(r.border.StrokeColor)
}

func (r *entryRenderer) isFocused() bool {
	return r.border.StrokeColor == style.Color(style.ColorAccent)
}

// Layout implements fyne.WidgetRenderer. Fyne puts the frame between two pixels, which blurs it.
func (r *entryRenderer) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	r.border.Move(fyne.Position{})
	r.border.Resize(size)
	r.frame()
	if r.of.isPath && r.width != size.Width && !r.isFocused() {
		r.width = size.Width
		r.of.moveToEnd()
	}
}

var functionKeys = []fyne.KeyName{
	fyne.KeyF1, fyne.KeyF2, fyne.KeyF3, fyne.KeyF4, fyne.KeyF5, fyne.KeyF6,
	fyne.KeyF7, fyne.KeyF8, fyne.KeyF9, fyne.KeyF10, fyne.KeyF11, fyne.KeyF12,
}

// ShiftEntry is a field that knows whether Shift is pressed.
type ShiftEntry struct {
	Entry
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
		s.ShiftEntry.TypedKey(e)
	}
}

// NameField is an entry that edits a name in place: Enter submits it, Escape calls OnCancel.
type NameField struct {
	Entry
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

// TextArea is a multi-line entry for forms.
type TextArea struct{ Entry }

// NewTextArea creates an empty one with a number of visible lines.
func NewTextArea(lines int, hint string) *TextArea {
	t := &TextArea{}
	t.MultiLine, t.Wrapping = true, fyne.TextWrapWord
	t.ExtendBaseWidget(t)
	t.SetMinRowsVisible(lines)
	t.SetPlaceHolder(hint)
	return t
}
