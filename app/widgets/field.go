package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// TextArea is a multi-line entry for forms: Tab moves to the next field, whereas Fyne's own entry
// would insert a tab.
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
