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
	// Open opens a file of this computer with the default program; nil on other computers.
	Open func(path string)
	// Sort is the initial order; Sorted is called when it changes.
	Sort   state.FileSort
	Sorted func(state.FileSort)
	// Drop handles files of a machine that were dropped elsewhere in the window.
	Drop func(from protocol.NodeID, paths []string, at fyne.Position)
	// Send sends files of a machine that were dropped on the list of another one.
	Send func(from protocol.NodeID, paths []string, to protocol.NodeID, dir string)
	// Two starts with two lists, of which the right one shows Right; Paired is called when either
	// changes.
	Two    bool
	Right  protocol.NodeID
	Paired func(two bool, right protocol.NodeID)
}

// Page is one list of files with its controls. It belongs to the GUI thread.
type Page struct {
	ctx   context.Context
	app   *state.App
	model *state.Files
	h     Handlers
	Box   *fyne.Container

	view             state.FilesView
	nodes            []protocol.NodeInfo
	list             *table
	filter           *widgets.SearchField
	place            *widgets.Button
	columnHeads      *columnHeads
	pathBar          *pathBar
	note             *widgets.Text
	selectionButtons []*widgets.Button // buttons for the selection
	actions          actions
	changes          changes
	drag             drag
	pair             *Pair         // owner of the list
	isBeside         bool          // a second list is shown beside it
	dropHighlight    *widgets.Rect // highlights the list as the target of a drag
	offline          bool          // the machine is offline
	selectPath       string        // path to select once the list contains it
	renamePath       string        // path to rename once the list contains it
	body             *fyne.Container
	viewer           *viewer
	drawnKey         string
	focusPending     bool // focus the list when it is drawn
	// highlight highlights long code. It is called off the GUI thread.
	highlight func(code, name string) []code.Line
}

// New creates the page and follows the gateway until ctx ends.
func New(ctx context.Context, a *state.App, h Handlers) *Page {
	p := newPage(ctx, a, h)
	bind.Watch(ctx, p.model.Value, p.show)
	context.AfterFunc(ctx, p.model.Close)
	bind.Watch(ctx, a.Value, func(v state.View) { p.nodes = v.Nodes; p.showPlace(); p.watchMachine(v) })
	return p
}

func newPage(ctx context.Context, a *state.App, h Handlers) *Page {
	p := &Page{
		ctx: ctx, app: a, model: state.NewFiles(a), h: h, Box: container.NewStack(), body: container.NewStack(), note: widgets.NewText("", style.ColorMuted, style.SizeSmall),
		filter: widgets.NewSearchField("Filter", ""), highlight: code.HighlightLong,
	}
	p.view.Loading = true
	p.pair = &Pair{h: h, left: p, active: p}
	p.list = newTable()
	p.actions, p.changes, p.drag = actions{p}, changes{p}, drag{page: p}
	p.list.onSelect, p.list.onKey, p.list.onMenu, p.list.onRename = p.showSelection, p.handleKey, p.actions.menu, p.actions.rename
	p.list.onOpen = func(e state.FileEntry) {
		if e.Dir {
			p.enter(e.Path)
		} else {
			p.model.Look(e.Path)
		}
	}
	p.dropHighlight = widgets.NewRect("", style.ColorAccent, style.Corner)
	p.list.onDrag, p.list.onDrop = p.drag.track, p.drag.finish
	p.list.onFocus = func() { p.pair.active = p }
	p.filter.OnChanged = p.model.SetFilter
	p.filter.OnCancel = func() { p.focus() }
	p.columnHeads = newColumnHeads(func(column string) {
		by := p.view.Sort.Next(column)
		p.model.Sort(by)
		if h.Sorted != nil {
			h.Sorted(by)
		}
	})
	p.pathBar = newPathBar(p.enter, func() { p.focus() })
	p.place = widgets.NewMenuButton("", "folder", p.placeMenu)
	p.selectionButtons = []*widgets.Button{widgets.NewQuietButton("", "edit", p.actions.startRename), widgets.NewQuietButton("", "trash", p.actions.delete)}
	p.model.Sort(h.Sort)
	p.showPlace()
	p.draw()
	return p
}

func (p *Page) show(v state.FilesView) {
	p.view = v
	p.showPlace()
	p.list.marks = fileMarks(v, p.app.Drafts, p.changes.marks())
	p.list.details = v.CanBrowse && v.Filter == ""
	p.list.Set(v.Entries, v.Filter != "")
	p.pathBar.set(v.Crumbs(p.app.Value.Get()))
	p.columnHeads.set(v.Sort, v.CanBrowse && v.Filter == "")
	if p.selectPath != "" && p.list.selectPath(p.selectPath) {
		p.selectPath = ""
	}
	if p.renamePath != "" && p.list.startRename(p.renamePath) {
		p.renamePath = ""
	}
	p.showSelection()
	p.draw()
}

func (p *Page) enter(dir string) {
	p.filter.SetText("")
	p.model.Enter(dir)
	p.focus()
}

// focus focuses the list once it is visible again.
func (p *Page) focus() {
	if p.focusPending = !strings.HasPrefix(p.drawnKey, "list"); !p.focusPending {
		widgets.Focus(p.list)
	}
}

func (p *Page) showError(what string, err error) { p.h.Say(what + ": " + err.Error()) }
