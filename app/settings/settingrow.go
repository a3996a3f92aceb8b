package settings

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// settingRow is one setting: its name, description, control and default, and the result of the last
// change.
type settingRow struct {
	page    *allSettings
	setting state.Setting
	box     *fyne.Container

	changedMark *widgets.Text // "Changed"
	control     *fyne.Container
	setControl  func(text string) // sets the control's value
	typedText   func() string     // returns the control's value; nil if each choice is saved at once
	focusTarget fyne.Focusable

	savedText   string // the control's value without unsaved changes
	saveButtons *fyne.Container
	facts       *widgets.Paragraph // default and limits
	reset       *widgets.Button
	result      *widgets.Paragraph
	undo        *widgets.Button
	undoOffer   int // number of the latest offer to undo
	foot        *fyne.Container
}

func newSettingRow(a *allSettings, s state.Setting) *settingRow {
	r := &settingRow{page: a, setting: s, control: container.NewStack(), result: muted(""), facts: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall)}
	title := widgets.NewText(r.title(), style.ColorText, "text")
	title.Style.Bold, title.Ellipsis = true, true
	r.changedMark = widgets.NewText("Changed", style.ColorAccent, style.SizeSmall)
	path := widgets.NewText(s.Name, style.ColorMuted, style.SizeSmall)
	path.Style.Monospace, path.Ellipsis = true, true
	r.reset = widgets.NewQuietButton("Reset to default", "undo", r.resetToDefault)
	r.undo = widgets.NewQuietButton("Undo", "undo", nil)
	r.reset.Small, r.undo.Small = true, true
	r.undo.Hide()
	r.result.Hide()
	save := widgets.NewButton("Save", "check", r.saveTyped)
	save.Primary, save.Small = true, true
	drop := widgets.NewQuietButton("Discard", "", r.discard)
	drop.Small = true
	r.saveButtons = widgets.Flow(style.Inside, save, drop)
	r.saveButtons.Hide()
	r.buildControl()
	r.foot = widgets.Flow(style.Inside, r.reset, r.undo)
	r.box = widgets.Col(style.Gap, container.New(titleLayout{}, title, r.changedMark, path), widgets.NewParagraph(s.Description, style.ColorMuted, "text"), r.control, r.saveButtons, r.facts,
		r.foot, r.result)
	r.apply(s, true)
	return r
}

// title includes a chosen name: Key of openai.
func (r *settingRow) title() string {
	if star := strings.Index(r.setting.Path, "*"); star >= 0 && !r.setting.Pattern {
		name, _, _ := strings.Cut(r.setting.Name[star:], ".")
		return r.setting.Title + ": " + name
	}
	return r.setting.Title
}

// buildControl creates the control for the kind of setting.
func (r *settingRow) buildControl() {
	switch f := r.setting.ConfigField; {
	case r.setting.Pattern:
		r.nameControl()
	case f.Secret:
		r.secretControl()
	case f.Type == "boolean":
		r.choiceControl([]choice[string]{{"On", "true"}, {"Off", "false"}})
	case len(f.Enum) > 0:
		var list []choice[string]
		for _, e := range f.Enum {
			name := e
			if e == "" {
				name = "Not set"
			}
			list = append(list, choice[string]{name, e})
		}
		r.choiceControl(list)
	case f.Format == protocol.FormatLines || f.Type == "list":
		r.multilineControl()
	default:
		r.lineControl()
	}
}

func (r *settingRow) focus() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(r.box); c != nil && r.focusTarget != nil {
		c.Focus(r.focusTarget)
	}
}

// titleLayout is a name, a mark after it, and a path at the right, which is shortened first.
type titleLayout struct{}

func (titleLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(120, max(o[0].MinSize().Height, o[1].MinSize().Height, o[2].MinSize().Height))
}

func (titleLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	title, mark, path := o[0].(*widgets.Text), o[1].(*widgets.Text), o[2].(*widgets.Text)
	full := func(t *widgets.Text) float32 {
		return fyne.MeasureText(t.Text, style.Size(t.SizeName), t.Style).Width + 1
	}
	rest := size.Width
	w := min(full(title), rest)
	title.Resize(fyne.NewSize(w, size.Height))
	rest -= w + style.Inside
	if mark.Visible() {
		m := full(mark)
		mark.Resize(fyne.NewSize(m, size.Height))
		mark.Move(fyne.NewPos(w+style.Inside, 0))
		rest -= m + style.Inside
	}
	p := max(min(full(path), rest), 0)
	path.Resize(fyne.NewSize(p, size.Height))
	path.Move(fyne.NewPos(size.Width-p, 0))
}
