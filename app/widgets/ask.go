package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// askWidth is the width of the field of [AskText].
const askWidth = 280

// AskText asks for a short text over a window. Enter and the button with the verb call done, unless
// the text is empty; Escape and Cancel close the question.
func AskText(c fyne.Canvas, title, verb string, done func(text string)) {
	field := NewNameField()
	var ask *widget.PopUp
	submit := func() {
		if text := strings.TrimSpace(field.Text); text != "" {
			ask.Hide()
			done(text)
		}
	}
	ok := NewButton(verb, "", submit)
	ok.Primary = true
	box := Col(style.Group, NewHeading(title, style.SizeTitle),
		container.NewGridWrap(fyne.NewSize(askWidth, field.MinSize().Height), field),
		Row(style.Inside, -1, ok, NewButton("Cancel", "", func() { ask.Hide() })))
	ask = widget.NewModalPopUp(Inset(style.Group, style.Group, style.Group, style.Group, box), c)
	field.OnSubmitted = func(string) { submit() }
	field.OnCancel = func() { ask.Hide() }
	ask.Show()
	c.Focus(field)
}
