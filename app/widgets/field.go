package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// TextArea is an entry of several lines in a form: Tab goes on to the next field, where the toolkit's own would write a tab.
type TextArea struct{ widget.Entry }

// NewTextArea makes an empty one that shows a number of lines.
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

// TypedShortcut implements fyne.Shortcutable: what the entry does not use is the window's.
func (t *TextArea) TypedShortcut(k fyne.Shortcut) {
	t.Entry.TypedShortcut(k)
	PassShortcut(t, k)
}
