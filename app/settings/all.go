package settings

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// allSettings is the page with every setting of the gateway. It is built when it is opened.
type allSettings struct {
	ctx context.Context
	m   *state.Settings
	box *fyne.Container

	view state.SettingsView
	rows map[string]*settingRow // by name; a hidden row retains its unsaved text
	// settings under names that the person added here, without a value yet
	added  []state.Setting
	search *widgets.SearchField
	group  *widgets.Select
	only   *widget.Check
	col    *fyne.Container
	scroll *container.Scroll
	body   *fyne.Container
	shown  string // content of col
	// save saves a setting off the GUI thread and calls done on it. Tests replace it.
	save func(name string, value []byte, done func(error))
	// later calls f on the GUI thread after the current content was drawn.
	later func(f func())
}

// firstRows is the number of rows built at once, and after each drawing, so that the page opens
// without delay.
const firstRows = 9

// everything is the choice of all groups.
const everything = "All groups"

// all creates the page for m. The page follows it until the window closes.
func (p *Page) all(m *state.Settings) *allSettings {
	a := newAllSettings(p.ctx, m)
	a.show(m.Value.Get())
	bind.Watch(p.ctx, m.Value, a.show)
	return a
}

func newAllSettings(ctx context.Context, m *state.Settings) *allSettings {
	a := &allSettings{ctx: ctx, m: m, rows: map[string]*settingRow{}, col: widgets.Col(style.Group), body: container.NewStack()}
	a.save = func(name string, value []byte, done func(error)) {
		bind.Go(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, m.Save(ctx, name, value) }, func(_ struct{},
			err error,
		) {
			done(err)
		})
	}
	a.later = func(f func()) {
		bind.Go(ctx, func(context.Context) (struct{}, error) { return struct{}{}, nil }, func(struct{}, error) { f() })
	}
	a.search = widgets.NewSearchField("Search settings", "")
	a.search.OnChanged = func(string) { a.draw() }
	a.group = widgets.NewSelect([]string{everything}, nil)
	a.group.SetSelected(everything)
	a.group.OnChanged = func(string) { a.draw() }
	a.only = widget.NewCheck("Changed only", nil)
	a.only.OnChanged = func(bool) { a.draw() }
	a.scroll = widgets.NewVScroll(widgets.Inset(style.Inside, style.Page, style.Page, style.Page, widgets.Limit(720, true, a.col)))
	head := container.New(&headLayout{}, a.search, a.group, a.only)
	a.box = widgets.Over(widgets.Inset(style.Group, style.Page, style.Inside, style.Page, head), a.body)
	a.draw()
	return a
}

// show applies a new state.
func (a *allSettings) show(v state.SettingsView) {
	a.view = v
	if groups := append([]string{everything}, v.Groups()...); strings.Join(groups, "\n") != strings.Join(a.group.Options, "\n") {
		a.group.Options = groups
		a.group.Refresh()
	}
	there := map[string]bool{}
	for _, s := range v.List {
		there[s.Name] = true
		if r := a.rows[s.Name]; r != nil {
			r.take(s, false)
		}
	}
	for _, s := range a.added {
		if r := a.rows[s.Name]; r != nil && !there[s.Name] { // the setting was deleted
			r.take(s, false)
		}
	}
	a.draw()
	a.relayout()
}

// list returns the settings to show: the matches, and after them the settings that were added here.
func (a *allSettings) list() []state.Setting {
	group := a.group.Selected
	if group == everything {
		group = ""
	}
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
	return v.Find(a.search.Text, group, a.only.Checked)
}

// draw rebuilds the rows only when they changed, so that entries do not disappear while the person
// uses them.
func (a *allSettings) draw() {
	switch {
	case !a.view.Loaded && a.view.Problem != "":
		a.put("problem", page(widgets.NewErrorBox(widgets.Problem{
			What: "Could not load the settings.", Do: a.view.Problem,
			Button: "Try again",
		}, a.reload)))
		return
	case !a.view.Loaded:
		a.put("loading", page(muted("Loading…")))
		return
	}
	list := a.list()
	if len(list) == 0 {
		none := muted("No settings found.")
		if strings.TrimSpace(a.search.Text) == "" {
			none = muted("All settings are at their defaults.")
		}
		a.put("none"+none.Text(), page(none))
		return
	}
	var key strings.Builder
	for _, s := range list {
		key.WriteString(s.Name + "\n")
	}
	if key.String() == a.shown {
		return
	}
	a.col.Objects = nil
	a.put(key.String(), a.scroll)
	if a.search.Text != "" { // results are read from the top
		a.scroll.ScrollToTop()
	}
	a.fill(list, "", key.String())
}

// fill appends rows in batches while key is still the current content.
func (a *allSettings) fill(list []state.Setting, group, key string) {
	if a.shown != key {
		return
	}
	n := min(firstRows, len(list))
	for _, s := range list[:n] {
		if s.Group != group {
			group = s.Group
			a.col.Objects = append(a.col.Objects, widgets.Inset(style.Inside, 0, 0, 0, heading(group)))
		}
		a.col.Objects = append(a.col.Objects, a.row(s).box)
	}
	a.relayout()
	if rest := list[n:]; len(rest) > 0 {
		a.later(func() { a.fill(rest, group, key) })
	}
}

func (a *allSettings) put(key string, o fyne.CanvasObject) {
	if key == a.shown {
		return
	}
	a.shown = key
	a.body.Objects = []fyne.CanvasObject{o}
	a.body.Refresh()
}

func (a *allSettings) row(s state.Setting) *settingRow {
	r := a.rows[s.Name]
	if r == nil {
		r = newSettingRow(a, s)
		a.rows[s.Name] = r
	}
	return r
}

func (a *allSettings) reload() {
	bind.Go(a.ctx, func(ctx context.Context) (struct{}, error) { a.m.Load(ctx); return struct{}{}, nil }, func(struct{}, error) {})
}

// add adds the settings of a new name: the pattern's own and those that share its prefix. A
// provider's key and its address have different prefixes and are added separately.
func (a *allSettings) add(pattern state.Setting, name string) (problem string) {
	name = strings.TrimSpace(name)
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
	a.search.SetText("")
	a.only.SetChecked(false)
	a.draw()
	if r := a.rows[first]; r != nil {
		r.focus()
	}
	return ""
}

// relayout repeats the layout after a row changed its height.
func (a *allSettings) relayout() {
	a.col.Layout.Layout(a.col.Objects, a.col.Size()) // a refresh would redraw every row
	a.scroll.Refresh()
}

// headLayout is a search field with two controls at its right, or below it if the field would be
// too narrow.
type headLayout struct {
	below bool // result of the last layout
}

// searchWidth is the minimum width of the search field beside the controls, at the default text
// size.
const searchWidth float32 = 200

func (l *headLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	s, g, c := o[0].MinSize(), o[1].MinSize(), o[2].MinSize()
	height := max(g.Height, c.Height)
	if l.below {
		return fyne.NewSize(g.Width+c.Width+style.Inside, s.Height+style.Inside+height)
	}
	return fyne.NewSize(g.Width+c.Width+style.Inside, max(s.Height, height))
}

func (l *headLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	g, c, h := o[1].MinSize(), o[2].MinSize(), o[0].MinSize().Height
	g.Width = max(g.Width, 170)
	search := size.Width - c.Width - g.Width - 2*style.Inside
	x, y, height := size.Width-c.Width-g.Width-style.Inside, float32(0), size.Height
	if l.below = search < searchWidth*style.Size("text")/14; l.below {
		search, x, y, height = size.Width, 0, h+style.Inside, max(g.Height, c.Height)
		g.Width = max(size.Width-c.Width-style.Inside, 0)
	}
	o[0].Resize(fyne.NewSize(search, h))
	o[0].Move(fyne.NewPos(0, 0))
	if !l.below {
		o[0].Move(fyne.NewPos(0, (height-h)/2))
	}
	o[1].Resize(g)
	o[1].Move(fyne.NewPos(x, y+(height-g.Height)/2))
	o[2].Resize(c)
	o[2].Move(fyne.NewPos(size.Width-c.Width, y+(height-c.Height)/2))
}
