package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// SearchField is an entry for searching. Esc clears it and then calls OnCancel; Up and Down call
// OnMove.
type SearchField struct {
	widget.Entry
	OnCancel func()
	OnMove   func(by int)
	OnChoose func()
}

// NewSearchField creates an empty field; key, which may be empty, is the shortcut that focuses it,
// shown at its right.
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
