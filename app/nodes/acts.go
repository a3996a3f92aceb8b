package nodes

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// acts is the line of what can be done with a machine or a window. The line is drawn anew by show of its page.
type acts struct {
	widgets.Sheet
	show  func()
	sure  string // the button of what was asked for once and is asked for again; empty is none
	edit  bool   // the name is to be changed
	field *nameField
}

func newActs(show func()) acts { return acts{Sheet: widgets.NewSheet(), show: show} }

// naming is the line while the name is changed.
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
	// As high as the buttons that were there, so that nothing below moves.
	return widgets.Row(style.Inside, -1, widgets.Inset(-4, 0, -3, 0, container.New(fieldLayout{}, a.field)),
		widgets.NewButton("Save", "check", func() { end(true) }), widgets.NewQuiet("Cancel", "", func() { end(false) }))
}

// twice is a button for what cannot be undone. It asks first; keep says no.
func (a *acts) twice(text, icon, really, keep string, do func()) []fyne.CanvasObject {
	if a.sure != text {
		return []fyne.CanvasObject{widgets.NewQuiet(text, icon, func() { a.ask(text) })}
	}
	return a.really(icon, really, keep, do)
}

// ask has a button asked about once more; empty has none.
func (a *acts) ask(button string) {
	a.sure = button
	a.show()
}

// really are the answers of what is asked about once more.
func (a *acts) really(icon, really, keep string, do func()) []fyne.CanvasObject {
	yes := widgets.NewQuiet(really, icon, do)
	yes.Danger = true
	return []fyne.CanvasObject{yes, widgets.NewQuiet(keep, "", func() { a.ask("") })}
}
