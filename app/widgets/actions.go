package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/gateway/peer/format"
)

// Actions is a line of buttons about one thing, which can turn into an editor of its name. A question
// whether to do something stands below the line, so that no button moves.
type Actions struct {
	Body
	show       func()
	Confirming string // action that waits for a confirmation; empty for none
	Editing    bool   // the name is being edited
	field      *NameField
	question   fyne.CanvasObject // below the line; nil for none
}

// NewActions creates an empty line. show must draw it with [Actions.DrawActions].
func NewActions(show func()) Actions { return Actions{Body: NewBody(), show: show} }

// DrawActions redraws the line after a change of the facts that it depends on, or of its own state.
func (a *Actions) DrawActions(facts string, build func() fyne.CanvasObject) bool {
	if a.Editing {
		return a.Draw("edit", build) // do not redraw while the person is using it
	}
	return a.Draw(facts+a.Confirming, func() fyne.CanvasObject {
		a.question = nil
		line := build()
		if a.question == nil {
			return line
		}
		return Col(style.Inside, line, a.question)
	})
}

// NameEditor is the line while the name is edited.
func (a *Actions) NameEditor(name, placeholder string, save func(string)) fyne.CanvasObject {
	a.field = NewNameField()
	a.field.SetText(name)
	a.field.SetPlaceHolder(placeholder)
	end := func(keep bool) {
		a.Editing = false
		if keep {
			save(a.field.Text)
		}
		a.show()
	}
	a.field.OnSubmitted = func(string) { end(true) }
	a.field.OnCancel = func() { end(false) }
	// The same height as the buttons before, so that nothing below moves.
	field := container.NewGridWrap(fyne.NewSize(240, a.field.MinSize().Height), a.field)
	return Row(style.Inside, -1, Inset(-4, 0, -3, 0, field),
		NewButton("Save", "check", func() { end(true) }), NewQuietButton("Cancel", "", func() { end(false) }))
}

// Confirmation is the text and icon of a button, and the question that it asks, with the texts of
// the buttons that answer it.
type Confirmation struct{ Text, Icon, Question, Yes, No string }

// ConfirmButton is a button that asks for a confirmation. It is disabled while it asks.
func (a *Actions) ConfirmButton(c Confirmation, do func()) *Button {
	b := NewQuietButton(c.Text, c.Icon, func() { a.Confirm(c.Text) })
	if a.Confirming == c.Text {
		b.Disable()
		a.ask(c, do)
	}
	return b
}

// Confirm asks to confirm an action; an empty name cancels.
func (a *Actions) Confirm(button string) {
	a.Confirming = button
	a.show()
}

// Back cancels the question. It reports whether the page must stay: there was a question, or the
// person is typing a name.
func (a *Actions) Back() bool {
	if a.Confirming != "" {
		a.Confirm("")
		return true
	}
	return a.Editing
}

// ask shows a question with its two buttons below the line that is being built.
func (a *Actions) ask(c Confirmation, do func()) {
	yes := NewQuietButton(c.Yes, c.Icon, do)
	yes.Danger = true
	question := NewText(format.Clip(c.Question, 60), style.ColorText, "text")
	no := NewQuietButton(c.No, "", func() { a.Confirm("") })
	a.question = Flow(style.Inside, question, Row(style.Inside, -1, yes, no))
}

// Rename turns the line into the editor of the name.
func (a *Actions) Rename() {
	a.Editing = true
	a.show()
	if c := fyne.CurrentApp().Driver().CanvasForObject(a.Box); c != nil && a.field != nil {
		c.Focus(a.field)
		a.field.TypedShortcut(&fyne.ShortcutSelectAll{})
	}
}
