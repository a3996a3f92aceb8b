package settings

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// settingRow is one setting: its name, what it is for, its control, its default, and what became of the last change.
type settingRow struct {
	a   *allSettings
	s   state.Setting
	box *fyne.Container

	mark    *widgets.Text // "Changed"
	control *fyne.Container
	put     func(text string) // shows a value in the control
	typed   func() string     // what the control holds; nil where each choice is saved at once
	focused fyne.Focusable

	base     string // what the control would hold if nothing had been typed
	typing   *fyne.Container
	basis    *widgets.Paragraph // default and limits
	reset    *widgets.Button
	said     *widgets.Paragraph
	undo     *widgets.Button
	undoTime int // number of the newest offer to undo
	foot     *fyne.Container
}

func newSettingRow(a *allSettings, s state.Setting) *settingRow {
	r := &settingRow{a: a, s: s, control: container.NewStack(), said: muted(""), basis: widgets.NewParagraph("", look.ColorMuted, look.SizeSmall)}
	title := widgets.NewText(r.title(), look.ColorText, "text")
	title.Style.Bold, title.Ellipsis = true, true
	r.mark = widgets.NewText("Changed", look.ColorAccent, look.SizeSmall)
	path := widgets.NewText(s.Name, look.ColorMuted, look.SizeSmall)
	path.Style.Monospace, path.Ellipsis = true, true
	r.reset = widgets.NewQuiet("Reset to default", "undo", r.toDefault)
	r.undo = widgets.NewQuiet("Undo", "undo", nil)
	r.reset.Small, r.undo.Small = true, true
	r.undo.Hide()
	r.said.Hide()
	save := widgets.NewButton("Save", "check", r.saveTyped)
	save.Primary, save.Small = true, true
	drop := widgets.NewQuiet("Discard", "", r.discard)
	drop.Small = true
	r.typing = widgets.Flow(look.Inside, save, drop)
	r.typing.Hide()
	r.build()
	r.foot = widgets.Flow(look.Inside, r.reset, r.undo)
	r.box = widgets.Col(look.Gap, container.New(titleLayout{}, title, r.mark, path), widgets.NewParagraph(s.Description, look.ColorMuted, "text"), r.control, r.typing, r.basis,
		r.foot, r.said)
	r.take(s, true)
	return r
}

// title says which of several names it is: Key of openai.
func (r *settingRow) title() string {
	if star := strings.Index(r.s.Path, "*"); star >= 0 && !r.s.Pattern {
		name, _, _ := strings.Cut(r.s.Name[star:], ".")
		return r.s.Title + ": " + name
	}
	return r.s.Title
}

// build makes the control for the kind of setting.
func (r *settingRow) build() {
	switch f := r.s.ConfigField; {
	case r.s.Pattern:
		r.adder()
	case f.Secret:
		r.secret()
	case f.Type == "boolean":
		r.choices([]choice[string]{{"On", "true"}, {"Off", "false"}})
	case len(f.Enum) > 0:
		var list []choice[string]
		for _, e := range f.Enum {
			name := e
			if e == "" {
				name = "Not set"
			}
			list = append(list, choice[string]{name, e})
		}
		r.choices(list)
	case f.Format == protocol.FormatLines || f.Type == "list":
		r.lines()
	default:
		r.line()
	}
}

// choices are buttons, or a menu where they would be too many. Each is saved as it is chosen.
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
		menu := widget.NewSelect(names, nil)
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

// line is a text of one line, with the unit after a number.
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
		o = container.NewBorder(nil, nil, container.NewGridWrap(fyne.NewSize(width, e.MinSize().Height), e), nil,
			widgets.Inset(0, 0, 0, look.Inside, widgets.NewText(f.Unit, look.ColorMuted, "text")))
	}
	r.control.Objects = []fyne.CanvasObject{o}
}

// lines is text of several lines, a list with an entry a line, or JSON.
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
		e.SetPlaceHolder("One a line")
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

// secret is kept in the keychain: it is set, replaced or removed, and never shown.
func (r *settingRow) secret() {
	e := widget.NewPasswordEntry()
	e.SetPlaceHolder("Paste it here; it goes into the system's keychain")
	r.entry(e)
	e.OnSubmitted = func(string) { r.saveTyped() }
	state := widgets.NewText("", look.ColorText, "text")
	replace := widgets.NewQuiet("Replace", "edit", nil)
	remove := widgets.NewQuiet("Remove", "trash", nil)
	sure := widgets.NewQuiet("Remove it for good", "trash", nil)
	keep := widgets.NewQuiet("Keep it", "", nil)
	sure.Danger = true
	icon := widget.NewIcon(look.IconIn("key", look.ColorGood))
	there := container.NewVBox(widgets.Flow(look.Inside, icon, state, replace, remove, sure, keep))
	ask := func(on bool) {
		for b, want := range map[*widgets.Button]bool{sure: on, keep: on, replace: !on, remove: !on && r.s.Name != "auth.token"} {
			r.showIf(b, want)
		}
		state.SetText("It is set.")
		if on {
			state.SetText("Nobody can bring it back.")
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
			r.say(problem, look.ColorBad)
			return
		}
		e.SetText("")
	}
	e.OnSubmitted = func(string) { add() }
	r.put = func(string) {}
	r.focused = e
	r.control.Objects = []fyne.CanvasObject{widgets.Limit(400, true, field(e, widgets.NewButton("Add", "plus", add)))}
}

func (r *settingRow) focus() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(r.box); c != nil && r.focused != nil {
		c.Focus(r.focused)
	}
}

func (r *settingRow) showIf(o fyne.CanvasObject, on bool) {
	if on != o.Visible() {
		if on {
			o.Show()
		} else {
			o.Hide()
		}
	}
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// titleLayout is a name, a mark after it, and a path at the right that gives way first.
type titleLayout struct{}

func (titleLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(120, max(o[0].MinSize().Height, o[1].MinSize().Height, o[2].MinSize().Height))
}

func (titleLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	title, mark, path := o[0].(*widgets.Text), o[1].(*widgets.Text), o[2].(*widgets.Text)
	full := func(t *widgets.Text) float32 {
		return fyne.MeasureText(t.Text, look.Size(t.SizeName), t.Style).Width + 1
	}
	rest := size.Width
	w := min(full(title), rest)
	title.Resize(fyne.NewSize(w, size.Height))
	rest -= w + look.Inside
	if mark.Visible() {
		m := full(mark)
		mark.Resize(fyne.NewSize(m, size.Height))
		mark.Move(fyne.NewPos(w+look.Inside, 0))
		rest -= m + look.Inside
	}
	p := max(min(full(path), rest), 0)
	path.Resize(fyne.NewSize(p, size.Height))
	path.Move(fyne.NewPos(size.Width-p, 0))
}
