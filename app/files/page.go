// Package files is the page of files: the agent's own, which can be edited, and those of each machine's workspace.
package files

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/look"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Handlers are what the page does beside its files.
type Handlers struct {
	Say func(string)
	// Undo tells that something was deleted and offers to bring it back, until a time.
	Undo  func(text string, undo func(), until time.Time)
	Fetch func(from protocol.NodeID, path string) // copies a file to this computer
	Copy  func(string)
	Place func(protocol.NodeID) // another place is shown; empty is the agent's own files
}

// Page is the page. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	app *state.App
	m   *state.Files
	h   Handlers
	Box *fyne.Container

	view   state.FilesView
	nodes  []protocol.NodeInfo
	list   *widgets.ItemList
	filter *widgets.SearchField
	place  *widgets.Button
	sort   *widgets.Button
	where  *widgets.Text
	note   *widgets.Text
	body   *fyne.Container
	viewer *viewer
	drawn  string
}

// New makes the page and follows the gateway until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(ctx, a, h)
	bind.Watch(ctx, p.m.Value, p.show)
	bind.Watch(ctx, a.Value, func(v state.View) { p.nodes = v.Nodes; p.names() })
	return p
}

func newPage(ctx context.Context, a *state.App, h Handlers) *Page {
	p := &Page{
		ctx: ctx, app: a, m: state.NewFiles(a), h: h, Box: container.NewStack(), body: container.NewStack(), note: widgets.NewText("", look.ColorMuted, look.SizeSmall),
		where: widgets.NewText("", look.ColorText, "text"), filter: widgets.NewSearchField("Filter", ""),
	}
	p.where.Ellipsis = true
	p.view.Loading = true
	p.list = widgets.NewItemList(p.choose)
	p.list.Compact = true
	p.filter.OnChanged = p.m.Narrow
	p.place = widgets.NewButton("", "folder", nil)
	p.place.Trail = "down"
	p.place.OnTap = func() { widgets.ShowMenu(p.place, p.places()) }
	p.sort = widgets.NewQuiet("By name", "list", func() { p.m.Sort(!p.view.Newest) })
	p.names()
	p.draw()
	return p
}

// Open shows the files of a machine; empty is the agent's own.
func (p *Page) Open(id protocol.NodeID) {
	p.filter.SetText("")
	p.m.Open(id)
	if p.h.Place != nil {
		p.h.Place(id)
	}
}

// OpenAt shows a file of the agent's own, or a folder, whose path ends with a slash.
func (p *Page) OpenAt(file string) {
	p.Open("")
	dir, name := path.Split(file)
	p.m.Enter(dir)
	if name != "" {
		p.m.Look(file)
	}
}

func (p *Page) places() []*fyne.MenuItem {
	items := []*fyne.MenuItem{fyne.NewMenuItem("The agent's own files", func() { p.Open("") })}
	for _, n := range p.nodes {
		item := fyne.NewMenuItem(state.NameOf(n), func() { p.Open(n.ID) })
		item.Disabled = !n.Online
		items = append(items, item)
	}
	return items
}

// names writes where the page is.
func (p *Page) names() {
	name := "The agent's own files"
	if p.view.Place != "" {
		name = string(p.view.Place)
		for _, n := range p.nodes {
			if n.ID == p.view.Place {
				name = state.NameOf(n)
			}
		}
	}
	p.place.SetText(name)
}

// show takes a new state in.
func (p *Page) show(v state.FilesView) {
	p.view = v
	p.names()
	items := make([]widgets.ListItem, len(v.Entries))
	for i, e := range v.Entries {
		items[i] = widgets.ListItem{Icon: "file", Title: e.Name()}
		if e.Dir {
			items[i].Icon, items[i].Color = "folder", look.ColorAccent
		}
		if dir := path.Dir(e.Path); v.Filter != "" && dir != "." {
			items[i].Trail = dir
		}
	}
	p.list.Set(items)
	p.where.SetText("/" + v.Dir)
	p.note.SetText(v.Note)
	p.sort.SetText("By name")
	if v.Newest {
		p.sort.SetText("Newest first")
	}
	p.draw()
}

func (p *Page) choose(i int) {
	if i >= len(p.view.Entries) {
		return
	}
	if e := p.view.Entries[i]; e.Dir {
		p.filter.SetText("")
		p.m.Enter(e.Path)
	} else {
		p.m.Look(e.Path)
	}
}

// draw draws the page anew only when other parts are shown: a field keeps the keyboard and what is typed in it.
func (p *Page) draw() {
	v := p.view
	if f := v.File; f != nil {
		if p.viewer == nil || p.viewer.path != f.Path {
			p.viewer = newViewer(p, *f)
			p.drawn = "file"
			p.Box.Objects = []fyne.CanvasObject{p.viewer.box}
			p.Box.Refresh()
		}
		return
	}
	p.viewer = nil
	now := fmt.Sprint("list ", v.Loading, v.Problem, len(v.Entries) == 0, v.Filter != "", v.Place == "", v.Dir == "")
	if now == p.drawn {
		return
	}
	framed := strings.HasPrefix(p.drawn, "list") && strings.HasSuffix(p.drawn, fmt.Sprint(v.Place == "", v.Dir == ""))
	p.drawn = now
	var o fyne.CanvasObject = p.list
	switch {
	case v.Problem != "":
		o = container.NewVBox(widgets.NewErrorBox(widgets.Problem{What: "The files cannot be listed.", Do: v.Problem, Button: "Try again"}, p.m.Reload))
	case v.Loading:
		o = container.NewVBox(widgets.NewText("Loading…", look.ColorMuted, "text"))
	case len(v.Entries) == 0 && v.Filter != "":
		o = container.NewVBox(widgets.NewText("Nothing found", look.ColorMuted, "text"))
	case len(v.Entries) == 0:
		o = container.NewVBox(widgets.Inset(64, 0, 0, 0, widgets.NewEmptyState("folder", "This folder is empty", "")))
	}
	p.body.Objects = []fyne.CanvasObject{o}
	p.body.Refresh()
	if framed {
		return // the frame with its fields stays
	}
	up := widgets.NewQuiet("", "up", p.m.Up)
	if v.Dir == "" {
		up.Hide()
	}
	actions := []fyne.CanvasObject{widgets.NewQuiet("", "reset", p.m.Reload), p.place}
	if v.Place == "" {
		actions = append(actions, widgets.NewButton("New file", "plus", p.create))
	}
	tools := widgets.Row(look.Inside, 1, up, p.where, p.sort)
	if v.Place == "" {
		tools = widgets.Row(look.Inside, 1, up, p.where)
	}
	top := widgets.Col(look.Inside, p.filter, tools)
	p.Box.Objects = []fyne.CanvasObject{widgets.NewPage("Files", container.NewBorder(widgets.Inset(0, 0, look.Inside, 0, top), p.note, nil, nil, p.body), actions...)}
	p.Box.Refresh()
}

// create begins a file of the agent.
func (p *Page) create() {
	dir := p.view.Dir
	if dir != "" {
		dir += "/"
	}
	p.viewer = newViewer(p, state.OpenFile{Path: dir, Editable: true})
	p.drawn = "file"
	p.Box.Objects = []fyne.CanvasObject{p.viewer.box}
	p.Box.Refresh()
}

// close leaves the file.
func (p *Page) close() {
	p.viewer = nil
	if p.view.File != nil {
		p.m.Up()
		return
	}
	p.drawn = ""
	p.draw()
}

// fail says what did not work.
func (p *Page) fail(what string, err error) { p.h.Say(what + ": " + err.Error()) }
