package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// choiceControl are buttons, or a menu if there are many. A choice is saved at once.
func (r *settingRow) choiceControl(list []choice[string]) {
	words := 0
	for _, c := range list {
		words += len(c.name) + 3
	}
	if words > 44 {
		var names []string
		for _, c := range list {
			names = append(names, c.name)
		}
		menu := widgets.NewSelect(names, nil)
		r.setControl = func(text string) {
			menu.OnChanged = nil
			for i, c := range list {
				if c.value == text {
					menu.SetSelectedIndex(i)
				}
			}
			menu.OnChanged = func(string) { r.saveChoice(list[menu.SelectedIndex()].value) }
		}
		r.focusTarget = menu
		r.control.Objects = []fyne.CanvasObject{widgets.LimitWidth(280, true, menu)}
		return
	}
	buttons, set := choiceButtons(list, r.saveChoice)
	r.setControl = set
	r.control.Objects = []fyne.CanvasObject{buttons}
}

func (r *settingRow) saveChoice(value string) {
	raw, err := parseSetting(r.setting.ConfigField, value)
	if err != nil {
		r.showError(err)
		return
	}
	r.save(raw, "✓ Saved.", func() { r.setControl(r.savedText) })
}

// lineControl is a one-line text, with the unit after a number.
func (r *settingRow) lineControl() {
	f := r.setting.ConfigField
	e := widgets.NewEntry()
	r.useEntry(e)
	e.OnSubmitted = func(string) { r.saveTyped() }
	width := float32(720)
	switch {
	case f.Format == protocol.FormatMillis || f.Format == protocol.FormatDuration:
		e.SetPlaceHolder("5 minutes")
		width = 280
	case f.Format == protocol.FormatTimeZone:
		e.SetPlaceHolder("Europe/Berlin")
		width = 280
	case f.Format == protocol.FormatURL:
		e.SetPlaceHolder("http://127.0.0.1:8000/v1")
	case f.Type == "integer" || f.Type == "number":
		width = 140
	}
	var o fyne.CanvasObject = widgets.LimitWidth(width, true, e)
	if f.Unit != "" {
		o = widgets.Border(nil, nil, container.NewGridWrap(fyne.NewSize(width, e.MinSize().Height), e), nil,
			widgets.Inset(0, 0, 0, style.Inside, widgets.NewText(f.Unit, style.ColorMuted, "text")))
	}
	r.control.Objects = []fyne.CanvasObject{o}
}

// multilineControl is a multi-line text, a list with one entry per line, or JSON.
func (r *settingRow) multilineControl() {
	e := widgets.NewEntry()
	e.MultiLine = true
	r.useEntry(e)
	e.Wrapping = fyne.TextWrapWord
	e.SetMinRowsVisible(3)
	switch f := r.setting.ConfigField; {
	case f.Type == "list" && f.Items == "object":
		e.TextStyle.Monospace = true
		e.SetPlaceHolder("[ ]")
	case f.Type == "list":
		e.SetPlaceHolder("One per line")
	}
	r.control.Objects = []fyne.CanvasObject{e}
}

func (r *settingRow) useEntry(e *widgets.Entry) {
	r.setControl = func(text string) { e.SetText(text) }
	r.typedText = func() string { return e.Text }
	r.focusTarget, e.Name = e, titleOf(r.setting) // it may be shown later
	e.OnChanged = func(string) {
		widgets.Call(r.typed)
		if r.hasChanges() != r.saveButtons.Visible() {
			widgets.SetVisible(r.saveButtons, r.hasChanges())
			r.page.relayout()
		}
	}
}

// secretControl is a value in the keychain: it can be set, replaced or removed, and is never shown.
func (r *settingRow) secretControl() {
	e := widgets.NewPasswordEntry()
	e.SetPlaceHolder("Paste it here. It is never shown again.")
	r.useEntry(e)
	e.OnSubmitted = func(string) { r.saveTyped() }
	state := widgets.NewText("", style.ColorText, "text")
	replace := widgets.NewQuietButton("Replace", "edit", nil)
	remove := widgets.NewQuietButton("Remove", "trash", nil)
	confirmRemove := widgets.NewQuietButton("Remove permanently", "trash", nil)
	cancel := widgets.NewQuietButton("Cancel", "", nil)
	confirmRemove.Danger = true
	icon := widget.NewIcon(style.IconIn("key", style.ColorGood))
	there := container.NewVBox(widgets.Flow(style.Inside, icon, state, replace, remove, confirmRemove, cancel))
	confirm := func(on bool) {
		for b, want := range map[*widgets.Button]bool{confirmRemove: on, cancel: on, replace: !on, remove: !on && r.setting.Name != "auth.token"} {
			widgets.SetVisible(b, want)
		}
		state.SetText(widgets.Choose(on, "Removing it cannot be undone.", "A value is set."))
		there.Refresh()
	}
	replace.OnTap = func() { r.control.Objects = []fyne.CanvasObject{e}; r.page.relayout(); r.focus() }
	remove.OnTap = func() { confirm(true) }
	cancel.OnTap = func() { confirm(false) }
	confirmRemove.OnTap = func() { r.save(nil, "✓ Removed.", nil) }
	r.setControl = func(string) {
		e.SetText("")
		confirm(false)
		r.control.Objects = []fyne.CanvasObject{widgets.Choose[fyne.CanvasObject](len(r.setting.Value) == 0, e, there)}
		r.control.Refresh()
	}
}

func (r *settingRow) nameControl() {
	e := widgets.NewEntry()
	e.SetPlaceHolder(widgets.Choose(r.setting.IsOfProvider(), "Provider, such as OpenAI", "Name"))
	add := func() {
		if problem := r.page.add(r.setting, e.Text); problem != "" {
			r.showResult(problem, style.ColorBad)
			return
		}
		e.SetText("")
	}
	e.OnSubmitted = func(string) { add() }
	r.setControl = func(string) {}
	r.focusTarget = e
	r.control.Objects = []fyne.CanvasObject{widgets.LimitWidth(400, true, field(e, widgets.NewButton("Add", "plus", add)))}
}
