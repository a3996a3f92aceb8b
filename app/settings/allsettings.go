package settings

import (
	"context"
	"image/color"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/style"
	"fairlead/app/unsaved"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// allSettings is the page with every setting of the gateway. It is built when it is opened.
type allSettings struct {
	ctx    context.Context
	model  *Model
	drafts *unsaved.Store
	box    *fyne.Container

	view View
	rows map[string]*settingRow // by name; a hidden row retains its unsaved text
	// settings under names that the person added here, without a value yet
	added       []Setting
	filter      *widgets.SearchField
	group       *widgets.Select
	changedOnly *widgets.CheckBox
	column      *fyne.Container
	scroll      *container.Scroll
	body        *fyne.Container
	marked      string // name of the setting to highlight; empty for none
	shownKey    string // content of column
	// save saves a setting off the GUI thread and calls done on it. Tests replace it.
	save func(name string, value []byte, done func(error))
	// afterDraw calls f on the GUI thread after the current content was drawn.
	afterDraw func(f func())
}

// rowBatch is the number of rows built before each drawing, so that the page opens without delay.
const rowBatch = 9

// allGroups is the choice of all groups.
const allGroups = "All groups"

func newAllSettings(ctx context.Context, m *Model, drafts *unsaved.Store) *allSettings {
	a := &allSettings{ctx: ctx, model: m, drafts: drafts, rows: map[string]*settingRow{}, column: widgets.Col(style.Group), body: container.NewStack()}
	a.save = func(name string, value []byte, done func(error)) {
		draft, _ := unsaved.Open(drafts, draftOf(name), "")
		bind.Run(ctx, draft.Saving(func(ctx context.Context) error { return m.Save(ctx, name, value) }), done)
	}
	a.afterDraw = func(f func()) {
		bind.Run(ctx, func(context.Context) error { return nil }, func(error) { f() })
	}
	a.filter = widgets.NewSearchField("Filter", "")
	a.filter.OnChanged = func(string) { a.draw() }
	a.group = widgets.NewSelect([]string{allGroups}, nil)
	a.group.SetSelected(allGroups)
	a.group.OnChanged = func(string) { a.draw() }
	a.changedOnly = widgets.NewCheckBox("Changed only", nil)
	a.changedOnly.OnChanged = func(bool) { a.draw() }
	a.scroll = widgets.NewVScroll(widgets.Inset(0, style.Inside, style.Page, 0, widgets.LimitWidth(720, true, a.column)))
	space := canvas.NewRectangle(color.Transparent)
	space.SetMinSize(fyne.NewSize(170, 0))
	head := widgets.WithControls(200, a.filter, widgets.Row(style.Inside, 0, container.NewStack(space, a.group), a.changedOnly))
	a.box = widgets.WithHeader(widgets.Inset(0, style.Inside, style.Group, 0, widgets.LimitWidth(720, true, head)), a.body)
	a.update(m.Value.Get())
	return a
}

func (a *allSettings) update(v View) {
	a.view = v
	if groups := append([]string{allGroups}, v.Groups()...); strings.Join(groups, "\n") != strings.Join(a.group.Options, "\n") {
		a.group.Options = groups
		a.group.Refresh()
	}
	there := map[string]bool{}
	for _, s := range v.List {
		there[s.Name] = true
		if r := a.rows[s.Name]; r != nil {
			r.apply(s, false)
		}
	}
	for _, s := range a.added {
		if r := a.rows[s.Name]; r != nil && !there[s.Name] { // the setting was deleted
			r.apply(s, false)
		}
	}
	a.draw()
	a.relayout()
}

// matches returns the settings to show: the matches, and the settings that were added here.
func (a *allSettings) matches() []Setting {
	group := widgets.Choose(a.group.Selected == allGroups, "", a.group.Selected)
	v := a.view
	v.List = nil
	there := map[string]bool{}
	for _, s := range a.view.List {
		there[s.Name] = true
	}
	for _, s := range a.view.List {
		if s.Pattern {
			for _, add := range a.added {
				if add.Path == s.Path && !there[add.Name] {
					v.List = append(v.List, add)
				}
			}
		}
		v.List = append(v.List, s)
	}
	return v.Find(a.filter.Text, group, a.changedOnly.Checked)
}

// draw rebuilds the rows only when they changed, so that the person can go on typing.
func (a *allSettings) draw() {
	switch {
	case !a.view.Loaded && a.view.Problem != "":
		a.setBody("problem", form(widgets.NewErrorBox(widgets.Problem{
			Title: "Could not load the settings.", Advice: a.view.Problem,
			Button: "Try again",
		}, func() {
			bind.Run(a.ctx, func(ctx context.Context) error { a.model.Load(ctx); return nil }, func(error) {})
		})))
		return
	case !a.view.Loaded:
		a.setBody("loading", form(mutedText("Loading…")))
		return
	}
	list := a.matches()
	if len(list) == 0 {
		searched := strings.TrimSpace(a.filter.Text) != ""
		none := widgets.Choose(searched, "No settings found.", "All settings are at their defaults.")
		a.setBody("none"+none, form(mutedText(none)))
		return
	}
	var key strings.Builder
	for _, s := range list {
		key.WriteString(s.Name + "\n")
	}
	if key.String() == a.shownKey {
		return
	}
	a.column.Objects = nil
	a.setBody(key.String(), a.scroll)
	if a.filter.Text != "" { // results are read from the top
		a.scroll.ScrollToTop()
	}
	a.appendRows(list, "", key.String())
}

// appendRows appends rows in batches while key is still the current content.
func (a *allSettings) appendRows(list []Setting, group, key string) {
	if a.shownKey != key {
		return
	}
	n := min(rowBatch, len(list))
	for _, s := range list[:n] {
		if s.Group != group {
			group = s.Group
			a.column.Objects = append(a.column.Objects, widgets.Inset(style.Inside, 0, 0, 0, heading(group)))
		}
		a.column.Objects = append(a.column.Objects, a.row(s).box)
	}
	a.relayout()
	if rest := list[n:]; len(rest) > 0 {
		a.afterDraw(func() { a.appendRows(rest, group, key) })
		return
	}
	a.showMarked()
}

// reveal shows all settings, and highlights one of them.
func (a *allSettings) reveal(name string) {
	a.filter.SetText("")
	a.group.SetSelected(allGroups)
	a.changedOnly.SetChecked(false)
	a.marked = name
	a.showMarked()
}

// showMarked highlights the setting once all rows exist.
func (a *allSettings) showMarked() {
	r := a.rows[a.marked]
	if r == nil || !slices.Contains(a.column.Objects, r.box) {
		return
	}
	a.marked = ""
	for _, other := range a.rows {
		widgets.SetVisible(other.mark.band, other == r)
	}
	a.afterDraw(func() {
		r.focus()
		widgets.ScrollToTop(r.box)
	})
}

func (a *allSettings) setBody(key string, o fyne.CanvasObject) {
	if key == a.shownKey {
		return
	}
	a.shownKey = key
	widgets.SetContent(a.body, o)
}

func (a *allSettings) row(s Setting) *settingRow {
	r := a.rows[s.Name]
	if r == nil {
		r = newSettingRow(a, s)
		a.rows[s.Name] = r
	}
	return r
}

// add adds the settings of a new name: the pattern's own and those that share its prefix. A
// provider's key and its address have different prefixes and are added separately.
func (a *allSettings) add(pattern Setting, name string) (problem string) {
	name = strings.TrimSpace(name)
	if pattern.IsOfProvider() {
		name = protocol.ProviderID(name)
	}
	if name == "" || strings.Contains(name, ".") {
		return "Enter a name without dots."
	}
	prefix, _, _ := strings.Cut(pattern.Path, "*")
	var first string
	for _, s := range a.view.List {
		if s.Pattern && strings.HasPrefix(s.Path, prefix+"*") {
			s.Name, s.Pattern = strings.Replace(s.Path, "*", name, 1), false
			if s.Path == pattern.Path {
				first = s.Name
			}
			a.added = append(a.added, s)
		}
	}
	a.filter.SetText("")
	a.changedOnly.SetChecked(false)
	a.draw()
	if r := a.rows[first]; r != nil {
		r.focus()
	}
	return ""
}

// relayout repeats the layout after a row changed its height.
func (a *allSettings) relayout() {
	a.column.Layout.Layout(a.column.Objects, a.column.Size()) // a refresh would redraw every row
	a.scroll.Refresh()
}
