// Package files is the page of files: the agent's own files, which can be edited, and the files of
// each machine.
package files

import (
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/code"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Handlers are the page's callbacks.
type Handlers struct {
	Say func(string)
	// Undo shows a deletion and offers to undo it until a time.
	Undo  func(text string, undo func(), until time.Time)
	Fetch func(from protocol.NodeID, path string) // copies a file to this computer
	Copy  func(string)
	Place func(protocol.NodeID) // another place is shown; empty is the agent's own files
	// Open opens a file of this computer with the system's default program; nil if no machine is
	// this computer.
	Open func(path string)
	// Sort is the initial order; Sorted is called when it changes.
	Sort   state.FileSort
	Sorted func(state.FileSort)
	// Drop handles files of a machine that were dropped elsewhere in the window.
	Drop func(from protocol.NodeID, paths []string, at fyne.Position)
	// Send sends files of a machine to a folder of another one, after they were dropped on its
	// list.
	Send func(from protocol.NodeID, paths []string, to protocol.NodeID, dir string)
	// Two starts with two lists, of which the right one shows Right; Paired is called when either
	// changes.
	Two    bool
	Right  protocol.NodeID
	Paired func(two bool, right protocol.NodeID)
}

// Page is one list of files with its controls. It belongs to the GUI thread.
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
	acts   []*widgets.Button // buttons for the selection
	drag   fyne.Position     // position of the drag
	pair   *Pair             // owner of the list; nil for none
	beside bool              // a second list is shown beside it
	aim    *widgets.Rect     // highlights the list as the target of a drag
	away   bool              // the machine is offline
	follow string            // path to select once the list contains it
	rename string            // path to rename once the list contains it
	body   *fyne.Container
	viewer *viewer
	drawn  string
	keys   bool // focus the list when it is drawn
	// colour highlights long code. It is called off the GUI thread.
	colour func(code, name string) []code.Line
}

// New creates the page and follows the gateway until ctx ends.
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
		filter: widgets.NewSearchField("Filter", ""), colour: code.HighlightLong,
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

// show applies a new state.
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

// focus focuses the list once it is visible again.
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

// fail shows an error.
func (p *Page) fail(what string, err error) { p.h.Say(what + ": " + err.Error()) }
