// Package files is the page of files: the agent's own, which can be edited, and those of each machine's workspace.
package files

import (
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/style"
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
	keys   bool // the list gets the keyboard when it is drawn
	// colour makes coloured lines of long code. It is called beside the GUI thread.
	colour func(code, name string) []widgets.CodeLine
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
		ctx: ctx, app: a, m: state.NewFiles(a), h: h, Box: container.NewStack(), body: container.NewStack(), note: widgets.NewText("", style.ColorMuted, style.SizeSmall),
		filter: widgets.NewSearchField("Filter", ""), colour: widgets.HighlightLong,
	}
	p.view.Loading = true
	p.list = newTable()
	p.list.onOpen, p.list.onPick, p.list.onKey, p.list.onMenu, p.list.onRename = p.choose, p.picked, p.key, p.menu, p.renamed
	p.aim = widgets.NewRect("", style.ColorAccent, style.Corner)
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

// focus gives the list the keyboard, once it is shown again.
func (p *Page) focus() {
	if p.keys = !strings.HasPrefix(p.drawn, "list"); p.keys {
		return
	}
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

// fail says what did not work.
func (p *Page) fail(what string, err error) { p.h.Say(what + ": " + err.Error()) }
