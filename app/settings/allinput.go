package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// choices are buttons, or a menu if there are many. A choice is saved at once.
func (r *settingRow) choices(list []choice[string]) {
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
		r.put = func(text string) {
			menu.OnChanged = nil
			for i, c := range list {
				if c.value == text {
					menu.SetSelectedIndex(i)
				}
			}
			menu.OnChanged = func(string) { r.choose(list[menu.SelectedIndex()].value) }
		}
		r.focused = menu
		r.control.Objects = []fyne.CanvasObject{widgets.Limit(280, true, menu)}
		return
	}
	buttons, set := pick(list, r.choose)
	r.put = set
	r.control.Objects = []fyne.CanvasObject{buttons}
}

func (r *settingRow) choose(value string) {
	raw, err := state.ParseSetting(r.s.ConfigField, value)
	if err != nil {
		r.fail(err)
		return
	}
	r.save(raw, "✓ Saved.", func() { r.put(r.base) })
}

// line is a one-line text, with the unit after a number.
func (r *settingRow) line() {
	f := r.s.ConfigField
	e := widget.NewEntry()
	r.entry(e)
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
	var o fyne.CanvasObject = widgets.Limit(width, true, e)
	if f.Unit != "" {
		o = widgets.Border(nil, nil, container.NewGridWrap(fyne.NewSize(width, e.MinSize().Height), e), nil,
			widgets.Inset(0, 0, 0, style.Inside, widgets.NewText(f.Unit, style.ColorMuted, "text")))
	}
	r.control.Objects = []fyne.CanvasObject{o}
}

// lines is a multi-line text, a list with one entry per line, or JSON.
func (r *settingRow) lines() {
	e := widget.NewMultiLineEntry()
	r.entry(e)
	e.Wrapping = fyne.TextWrapWord
	e.SetMinRowsVisible(3)
	switch f := r.s.ConfigField; {
	case f.Type == "list" && f.Items == "object":
		e.TextStyle.Monospace = true
		e.SetPlaceHolder("[ ]")
	case f.Type == "list":
		e.SetPlaceHolder("One per line")
	}
	r.control.Objects = []fyne.CanvasObject{e}
}

func (r *settingRow) entry(e *widget.Entry) {
	r.put = func(text string) { e.SetText(text) }
	r.typed = func() string { return e.Text }
	r.focused = e
	e.OnChanged = func(string) {
		if r.dirty() != r.typing.Visible() {
			r.showIf(r.typing, r.dirty())
			r.a.relayout()
		}
	}
}

// secret is a value in the keychain: it can be set, replaced or removed, and is never shown.
func (r *settingRow) secret() {
	e := widget.NewPasswordEntry()
	e.SetPlaceHolder("Paste it here. It is never shown again.")
	r.entry(e)
	e.OnSubmitted = func(string) { r.saveTyped() }
	state := widgets.NewText("", style.ColorText, "text")
	replace := widgets.NewQuiet("Replace", "edit", nil)
	remove := widgets.NewQuiet("Remove", "trash", nil)
	sure := widgets.NewQuiet("Remove permanently", "trash", nil)
	keep := widgets.NewQuiet("Cancel", "", nil)
	sure.Danger = true
	icon := widget.NewIcon(style.IconIn("key", style.ColorGood))
	there := container.NewVBox(widgets.Flow(style.Inside, icon, state, replace, remove, sure, keep))
	ask := func(on bool) {
		for b, want := range map[*widgets.Button]bool{sure: on, keep: on, replace: !on, remove: !on && r.s.Name != "auth.token"} {
			r.showIf(b, want)
		}
		state.SetText("A value is set.")
		if on {
			state.SetText("Removing it cannot be undone.")
		}
		there.Refresh()
	}
	replace.OnTap = func() { r.control.Objects = []fyne.CanvasObject{e}; r.a.relayout(); r.focus() }
	remove.OnTap = func() { ask(true) }
	keep.OnTap = func() { ask(false) }
	sure.OnTap = func() { r.save(nil, "✓ Removed.", nil) }
	r.put = func(string) {
		e.SetText("")
		ask(false)
		r.control.Objects = []fyne.CanvasObject{there}
		if len(r.s.Value) == 0 {
			r.control.Objects = []fyne.CanvasObject{e}
		}
		r.control.Refresh()
	}
}

// adder asks for a name.
func (r *settingRow) adder() {
	e := widget.NewEntry()
	e.SetPlaceHolder("Name")
	add := func() {
		if problem := r.a.add(r.s, e.Text); problem != "" {
			r.say(problem, style.ColorBad)
			return
		}
		e.SetText("")
	}
	e.OnSubmitted = func(string) { add() }
	r.put = func(string) {}
	r.focused = e
	r.control.Objects = []fyne.CanvasObject{widgets.Limit(400, true, field(e, widgets.NewButton("Add", "plus", add)))}
}
