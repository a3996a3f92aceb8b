package shortcuts

import (
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Title is the title of the page.
const Title = "Keyboard shortcuts"

// Group are the keys of a part of the program.
type Group struct {
	Name string
	Keys []widgets.KeyText // that views handle themselves
	// Of is an earlier group, whose keys this one does not repeat; may be empty.
	Of string
}

// Page lists the shortcuts.
type Page struct {
	Box    fyne.CanvasObject
	Filter *widgets.SearchField

	host     host.Host
	groups   []Group
	bindings []Binding
}

// New creates the page of groups and of the bindings in them.
func New(h host.Host, groups []Group, bindings []Binding) *Page {
	p := &Page{host: h, groups: groups, bindings: bindings, Filter: widgets.NewSearchField("Filter shortcuts", "")}
	list := widgets.NewItemList(nil)
	list.Compact = true
	p.Filter.OnChanged = func(query string) { list.Set(p.Lines(query)) }
	p.Filter.OnChanged("")
	body := widgets.Border(widgets.Inset(0, 0, style.Inside, 0, p.Filter), nil, nil, nil, list)
	p.Box = widgets.NewPage(Title, widgets.LimitWidth(720, true, body), widgets.NewQuietButton("Back", "back", func() { p.Back() }))
	return p
}

// Content implements [host.View].
func (p *Page) Content() fyne.CanvasObject { return p.Box }

// Focus implements [host.Focuser].
func (p *Page) Focus(c fyne.Canvas) { c.Focus(p.Filter) }

// Back leaves the page.
func (p *Page) Back() bool {
	p.host.Open(host.Back{})
	return true
}

// Lines lists the shortcuts that contain a text, by group.
func (p *Page) Lines(query string) (lines []widgets.ListItem) {
	query = strings.ToLower(strings.TrimSpace(query))
	seen := map[string]bool{}
	for _, g := range p.groups {
		var rows []widgets.ListItem
		add := func(text, keys string) {
			isRepeated := seen[g.Name+keys] || seen[g.Of+keys] // the windows share some
			if !isRepeated && strings.Contains(strings.ToLower(g.Name+" "+text+" "+keys), query) {
				seen[g.Name+keys] = true
				rows = append(rows, widgets.ListItem{Title: text, Detail: keys})
			}
		}
		for _, b := range p.bindings {
			if b.Group == g.Name {
				add(b.Text, b.Name())
			}
		}
		for _, k := range g.Keys {
			add(k.Text, k.Keys)
		}
		if len(rows) > 0 {
			lines = append(append(lines, widgets.ListItem{Title: g.Name, Heading: true}), rows...)
		}
	}
	return lines
}
