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
	// Open has the system open a file of this computer; nil where there is none of it.
	Open func(path string)
	// Sort is the order to begin with; Sorted hears of another one.
	Sort   state.FileSort
	Sorted func(state.FileSort)
	// Drop takes files of a machine that were dragged from the list to somewhere else in the window.
	Drop func(from protocol.NodeID, paths []string, at fyne.Position)
	// Send takes files of a machine that were dragged to another one's list, into a folder there.
	Send func(from protocol.NodeID, paths []string, to protocol.NodeID, dir string)
	// Two begins with two lists, of which the right one shows Right; Paired hears of another choice.
	Two    bool
	Right  protocol.NodeID
	Paired func(two bool, right protocol.NodeID)
}

// Page is one list of files with what belongs to it. It belongs to the GUI thread.
type Page struct {
	ctx context.Context
	app *state.App
	m   *state.Files
	h   Handlers
	Box *fyne.Container

	view   state.FilesView
	nodes  []protocol.NodeInfo
	list   *table
	filter *widgets.SearchField
	place  *widgets.Button
	heads  *heads
	way    *way
	note   *widgets.Text
	acts   []*widgets.Button // what can be done with what is chosen
	drag   fyne.Position     // where files are dragged
	pair   *Pair             // whose list it is; nil is none
	beside bool              // another list is shown beside it
	aim    *widgets.Rect     // frames the list while what is dragged would go there
	away   bool              // the machine is
	follow string            // a path to choose as soon as it is in the list
	rename string            // a path whose name is to be changed as soon as it is in the list
	body   *fyne.Container
	viewer *viewer
	drawn  string
}

// New makes the page and follows the gateway until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(ctx, a, h)
	bind.Watch(ctx, p.m.Value, p.show)
	context.AfterFunc(ctx, p.m.Leave)
	bind.Watch(ctx, a.Value, func(v state.View) { p.nodes = v.Nodes; p.names(); p.back(v) })
	return p
}

func newPage(ctx context.Context, a *state.App, h Handlers) *Page {
	p := &Page{
		ctx: ctx, app: a, m: state.NewFiles(a), h: h, Box: container.NewStack(), body: container.NewStack(), note: widgets.NewText("", look.ColorMuted, look.SizeSmall),
		filter: widgets.NewSearchField("Filter", ""),
	}
	p.view.Loading = true
	p.list = newTable()
	p.list.onOpen, p.list.onPick, p.list.onKey, p.list.onMenu, p.list.onRename = p.choose, p.picked, p.key, p.menu, p.renamed
	p.aim = widgets.NewRect("", look.ColorAccent, look.Corner)
	p.list.onDrag = p.dragged
	p.list.onFocus = func() { p.pair.turn(p) }
	p.list.onDrop = func(fyne.Position) { p.dropped() }
	p.filter.OnChanged = p.m.Narrow
	p.filter.OnCancel = func() { p.focus() }
	p.heads = newHeads(p.sortBy)
	p.way = newWay(p.enter, func() { p.focus() })
	p.place = widgets.NewButton("", "folder", nil)
	p.place.Trail = "down"
	p.place.OnTap = func() { widgets.ShowMenu(p.place, p.places()) }
	p.buttons()
	p.m.Sort(h.Sort)
	p.names()
	p.draw()
	return p
}

// back lists the folder again when its machine is there again.
func (p *Page) back(v state.View) {
	n, known := v.Node(p.view.Place)
	online := known && n.Online
	if p.away && online {
		p.m.Reload()
	}
	p.away = p.view.Place != "" && !online
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
		item := fyne.NewMenuItem(state.NameOf(n), func() { p.Open(n.ID); p.focus() })
		item.Disabled = !n.Online
		items = append(items, item)
		for _, g := range state.Folders(n) {
			if n.Online && n.Files {
				items = append(items, fyne.NewMenuItem("      "+g.Name, func() { p.Open(n.ID); p.enter(g.Dir) }))
			}
		}
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
	p.list.marks = p.describe(p.marks())
	p.list.details = v.Serves && v.Filter == ""
	p.list.Set(v.Entries, v.Filter != "")
	p.way.set(v.Crumbs(p.app.Value.Get()))
	p.heads.set(v.Sort, v.Serves && v.Filter == "")
	if p.follow != "" && p.list.follow(p.follow) {
		p.follow = ""
	}
	if p.rename != "" {
		for _, e := range v.Entries {
			if e.Path == p.rename {
				p.rename = ""
				p.list.edit(e.Path)
				break
			}
		}
	}
	p.picked()
	p.draw()
}

func (p *Page) choose(e state.FileEntry) {
	if e.Dir {
		p.enter(e.Path)
	} else {
		p.m.Look(e.Path)
	}
}

func (p *Page) enter(dir string) {
	p.filter.SetText("")
	p.m.Enter(dir)
	p.focus()
}

// focus gives the list the keyboard.
func (p *Page) focus() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(p.list); c != nil {
		c.Focus(p.list)
	}
}

func (p *Page) sortBy(column string) {
	by := p.view.Sort.Next(column)
	p.m.Sort(by)
	if p.h.Sorted != nil {
		p.h.Sorted(by)
	}
}

// draw draws the page anew only when other parts are shown: a field keeps the keyboard and what is typed in it.
func (p *Page) draw() {
	v := p.view
	if p.drawn == "cover" {
		return // it is left by its own button
	}
	if f := v.File; f != nil {
		if p.viewer == nil || p.viewer.path != f.Path {
			p.viewer.close()
			p.viewer = newViewer(p, *f)
			p.drawn = "file"
			p.Box.Objects = []fyne.CanvasObject{p.viewer.box}
			p.Box.Refresh()
		}
		return
	}
	p.viewer.close()
	p.viewer = nil
	now := fmt.Sprint("list ", v.Loading, v.Problem, len(v.Entries) == 0, v.Filter != "", p.frame())
	if now == p.drawn {
		return
	}
	framed := strings.HasPrefix(p.drawn, "list") && strings.HasSuffix(p.drawn, p.frame())
	p.drawn = now
	var o fyne.CanvasObject = container.NewBorder(p.heads.box, nil, nil, nil, p.list)
	switch {
	case v.Problem != "":
		o = widgets.NewFailed("The files cannot be listed.", v.Problem, p.m.Reload)
	case v.Loading:
		o = widgets.NewLoading()
	case len(v.Entries) == 0 && v.Filter != "":
		o = container.NewVBox(widgets.NewText("Nothing found", look.ColorMuted, "text"))
	case len(v.Entries) == 0:
		o = widgets.NewNothing("folder", "This folder is empty", "")
	}
	p.aim.Hide()
	p.body.Objects = []fyne.CanvasObject{o, p.aim}
	p.body.Refresh()
	if framed {
		return // the frame with its fields stays
	}
	up := widgets.NewQuiet("", "up", p.m.Up)
	if v.Dir == "" {
		up.Hide()
	}
	row := []fyne.CanvasObject{up, p.way.box}
	switch {
	case v.Serves && !v.Fixed:
		for _, b := range p.acts {
			row = append(row, b)
		}
		name := "New folder"
		if p.beside {
			name = ""
		}
		row = append(row, widgets.NewButton(name, "plus", p.newFolder))
	}
	top := widgets.Col(look.Inside, p.filter, widgets.Row(look.Inside, 1, row...))
	p.Box.Objects = []fyne.CanvasObject{p.head(container.NewBorder(widgets.Inset(0, 0, look.Inside, 0, top), widgets.Inset(look.Gap, 0, look.Inside, 0, p.note), nil, nil, p.body))}
	p.Box.Refresh()
}

// frame says in a word which parts stand around the list.
func (p *Page) frame() string {
	v := p.view
	return fmt.Sprint(v.Place == "", v.Dir == "", v.Serves, v.Fixed, len(v.Changed) > 0, p.beside, p.pair.room())
}

// head puts what is above a list there: its machine, and what can be done with the whole of it. Of two lists each has only pictures on its buttons.
func (p *Page) head(body fyne.CanvasObject) fyne.CanvasObject {
	words := func(text string) string {
		if p.beside || look.Size("text") > 18 { // with large text the head would need two lines
			return ""
		}
		return text
	}
	actions := []fyne.CanvasObject{widgets.NewQuiet("", "reset", p.m.Reload)}
	if !p.beside {
		actions = append(actions, p.place)
	}
	switch {
	case p.view.Place == "":
		actions = append(actions, widgets.NewButton(words("New file"), "plus", p.create))
	case p.view.Serves && len(p.view.Changed) > 0:
		actions = append(actions, widgets.NewQuiet(words("Changes"), "edit", func() { p.changesOf("") }))
	}
	switch {
	case p.beside && p.pair.right == p:
		actions = append(actions, widgets.NewQuiet("", "cross", p.pair.Toggle))
	case p.pair.room():
		actions = append(actions, widgets.NewQuiet("", "columns", p.pair.Toggle))
	}
	if !p.beside {
		return widgets.NewPage("Files", body, actions...)
	}
	row := widgets.Row(look.Gap, 1, append([]fyne.CanvasObject{p.place, container.NewStack()}, actions...)...)
	return widgets.Inset(look.Group, look.Group, 0, look.Group, container.NewBorder(widgets.Inset(0, 0, look.Inside, 0, row), nil, nil, nil, body))
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
	p.viewer.close()
	p.viewer, p.drawn = nil, ""
	if p.view.File != nil {
		p.m.Up()
		return
	}
	p.drawn = ""
	p.draw()
}

// fail says what did not work.
func (p *Page) fail(what string, err error) { p.h.Say(what + ": " + err.Error()) }
