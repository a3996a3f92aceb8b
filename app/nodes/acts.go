package nodes

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// acts is the line of actions for a machine or a window. The page's show redraws it.
type acts struct {
	widgets.Body
	show  func()
	sure  string // action that waits for a confirmation; empty for none
	edit  bool   // the name is being edited
	field *nameField
}

func newActs(show func()) acts { return acts{Body: widgets.NewBody(), show: show} }

// naming is the line while the name is edited.
func (a *acts) naming(name, placeholder string, save func(string)) fyne.CanvasObject {
	a.field = newNameField()
	a.field.SetText(name)
	a.field.SetPlaceHolder(placeholder)
	end := func(keep bool) {
		a.edit = false
		if keep {
			save(a.field.Text)
		}
		a.show()
	}
	a.field.OnSubmitted = func(string) { end(true) }
	a.field.leave = func() { end(false) }
	// The same height as the buttons before, so that nothing below moves.
	return widgets.Row(style.Inside, -1, widgets.Inset(-4, 0, -3, 0, container.New(fieldLayout{}, a.field)),
		widgets.NewButton("Save", "check", func() { end(true) }), widgets.NewQuietButton("Cancel", "", func() { end(false) }))
}

// twice is a button for an irreversible action. It asks for a confirmation; keep is the text of the
// button that cancels.
func (a *acts) twice(text, icon, really, keep string, do func()) []fyne.CanvasObject {
	if a.sure != text {
		return []fyne.CanvasObject{widgets.NewQuietButton(text, icon, func() { a.ask(text) })}
	}
	return a.really(icon, really, keep, do)
}

// ask asks to confirm an action; an empty name cancels.
func (a *acts) ask(button string) {
	a.sure = button
	a.show()
}

// really are the buttons of the confirmation.
func (a *acts) really(icon, really, keep string, do func()) []fyne.CanvasObject {
	yes := widgets.NewQuietButton(really, icon, do)
	yes.Danger = true
	return []fyne.CanvasObject{yes, widgets.NewQuietButton(keep, "", func() { a.ask("") })}
}
