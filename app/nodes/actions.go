package nodes

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// actions is the line of actions for a machine or a window. The page's show redraws it.
type actions struct {
	widgets.Body
	show       func()
	confirming string // action that waits for a confirmation; empty for none
	editing    bool   // the name is being edited
	field      *widgets.NameField
}

func newActions(show func()) actions { return actions{Body: widgets.NewBody(), show: show} }

// draw redraws the line after a change of the facts that it depends on, or of its own state.
func (a *actions) draw(facts string, build func() fyne.CanvasObject) bool {
	if a.editing {
		return a.Draw("edit", build) // do not redraw while the person is using it
	}
	return a.Draw(facts+a.confirming, build)
}

// nameEditor is the line while the name is edited.
func (a *actions) nameEditor(name, placeholder string, save func(string)) fyne.CanvasObject {
	a.field = widgets.NewNameField()
	a.field.SetText(name)
	a.field.SetPlaceHolder(placeholder)
	end := func(keep bool) {
		a.editing = false
		if keep {
			save(a.field.Text)
		}
		a.show()
	}
	a.field.OnSubmitted = func(string) { end(true) }
	a.field.OnCancel = func() { end(false) }
	// The same height as the buttons before, so that nothing below moves.
	return widgets.Row(style.Inside, -1, widgets.Inset(-4, 0, -3, 0, container.New(fieldLayout{}, a.field)),
		widgets.NewButton("Save", "check", func() { end(true) }), widgets.NewQuietButton("Cancel", "", func() { end(false) }))
}

// confirmButton asks for a confirmation; keep is the text of the button that cancels.
func (a *actions) confirmButton(text, icon, really, keep string, do func()) []fyne.CanvasObject {
	if a.confirming != text {
		return []fyne.CanvasObject{widgets.NewQuietButton(text, icon, func() { a.confirm(text) })}
	}
	return a.confirmButtons(icon, really, keep, do)
}

// confirm asks to confirm an action; an empty name cancels.
func (a *actions) confirm(button string) {
	a.confirming = button
	a.show()
}

func (a *actions) confirmButtons(icon, really, keep string, do func()) []fyne.CanvasObject {
	yes := widgets.NewQuietButton(really, icon, do)
	yes.Danger = true
	return []fyne.CanvasObject{yes, widgets.NewQuietButton(keep, "", func() { a.confirm("") })}
}

func (a *actions) rename() {
	a.editing = true
	a.show()
	if c := fyne.CurrentApp().Driver().CanvasForObject(a.Box); c != nil && a.field != nil {
		c.Focus(a.field)
		a.field.TypedShortcut(&fyne.ShortcutSelectAll{})
	}
}

// fieldLayout gives a name's field the width of most names.
type fieldLayout struct{}

func (fieldLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(240, o[0].MinSize().Height)
}

func (fieldLayout) Layout(o []fyne.CanvasObject, size fyne.Size) { o[0].Resize(size) }
