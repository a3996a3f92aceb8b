// Package files is the page of files: the agent's own, which can be edited, and of machines.
package files

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/code"
	"fairlead/app/host"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Page is one list of files with its controls. It belongs to the GUI thread.
type Page struct {
	ctx   context.Context
	e     host.Env
	model *Model
	Box   *fyne.Container

	view             View
	list             *table
	filter           *widgets.SearchField
	place            *widgets.Button
	columnHeads      *columnHeads
	pathBar          *pathBar
	note             *widgets.Paragraph
	selectionButtons []*widgets.Button // buttons for the selection
	actions          actions
	changes          changes
	drag             drag
	pair             *Pair         // owner of the list
	isBeside         bool          // a second list is shown beside it
	dropHighlight    *widgets.Rect // highlights the list as the target of a drag
	offline          bool          // the machine is offline
	visits           visits
	undos            []*undoable // what Ctrl+Z undoes, newest last
	selectPath       string      // path to select once the list contains it
	renamePath       string      // path to rename once the list contains it
	body             *fyne.Container
	viewer           *viewer
	drawnKey         string
	isListShown      bool // the list has entries and is not hidden by a file
	focusPending     bool // focus the list when it is shown
	// highlight highlights long code. It is called off the GUI thread.
	highlight func(code, name string) []code.Line
}

func newPage(ctx context.Context, e host.Env) *Page {
	p := &Page{
		ctx: ctx, e: e, model: newModel(e.Feed), Box: container.NewStack(), body: container.NewStack(), note: widgets.NewParagraph("", style.ColorMuted, style.SizeSmall),
		filter: widgets.NewSearchField("Filter", ""), highlight: code.HighlightLong,
		visits: visits{prefs: e.Prefs},
	}
	p.view.Loading = true
	p.pair = &Pair{e: e, left: p, active: p}
	p.list = newTable()
	p.actions, p.changes, p.drag = actions{p}, changes{p}, drag{page: p}
	p.list.onSelect, p.list.onKey, p.list.onMenu, p.list.onRename = p.showSelection, p.handleKey, p.actions.menu, p.actions.rename
	p.list.onOpen = func(e Entry) {
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
		e.Prefs.Update(func(r *preferences.Preferences) { r.Files = preferences.FileSort(by) })
	})
	p.pathBar = newPathBar(p.enter, func() { p.focus() })
	p.place = widgets.NewMenuButton("", "folder", head{p}.placeMenu)
	p.selectionButtons = []*widgets.Button{widgets.NewIconButton("edit", "Rename", p.actions.startRename), widgets.NewIconButton("trash", "Delete", p.actions.delete)}
	last := e.Prefs.Get()
	p.model.Sort(Sort(last.Files))
	p.model.Value.Update(func(v *View) { v.ShowHidden = last.FilesHidden })
	p.showPlace()
	p.draw()
	return p
}

func (p *Page) show(v View) {
	p.view = v
	p.showPlace()
	p.visits.add(v)
	p.list.marks = fileMarks(v, p.e.Drafts, p.changes.marks())
	p.list.details = v.CanBrowse && v.Filter == ""
	p.list.Set(v.Entries, v.Filter != "")
	machines := p.e.Feed.Machines.Get()
	p.pathBar.set(v.TopName(machines), v.Crumbs(machines))
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

// focus focuses the list once it is shown.
func (p *Page) focus() {
	if p.focusPending = !p.isListShown; p.isListShown {
		widgets.FocusIn(p.Box, p.list) // the list itself may not have been drawn yet
	}
}

// draw rebuilds the page only when its structure changes: a field keeps the focus and its text.
func (p *Page) draw() {
	v := p.view
	if p.drawnKey == "cover" {
		return // it is closed by its own button
	}
	if f := v.File; f != nil {
		p.showFile(f)
		return
	}
	p.viewer.close()
	p.viewer = nil
	now := fmt.Sprint("list ", v.Loading, v.Problem, len(v.Entries) == 0, v.Hidden > 0, v.Filter != "", p.frameKey())
	if now == p.drawnKey {
		return
	}
	framed := strings.HasPrefix(p.drawnKey, "list") && strings.HasSuffix(p.drawnKey, p.frameKey())
	p.drawnKey = now
	var o fyne.CanvasObject = widgets.Border(p.columnHeads.box, nil, nil, nil, p.list)
	switch {
	case v.Problem != "":
		o = widgets.NewLoadError("Could not list the files.", v.Problem, p.model.Reload)
	case v.Loading:
		o = widgets.NewLoading()
	case len(v.Entries) == 0 && v.Filter != "":
		o = container.NewVBox(widgets.NewText("Nothing found", style.ColorMuted, "text"))
	case len(v.Entries) == 0 && v.Hidden > 0:
		show := widgets.NewButton("Show hidden files", "eye", p.ToggleHidden)
		o = widgets.NewEmptyPage("folder", "All files here are hidden", "", show)
	case len(v.Entries) == 0:
		text := ""
		if p.view.CanChange() {
			text = "Drop files here to add them."
		}
		o = widgets.NewEmptyPage("folder", "This folder is empty", text)
	}
	p.isListShown = v.Problem == "" && !v.Loading && len(v.Entries) > 0
	p.dropHighlight.Hide()
	widgets.SetContent(p.body, o, p.dropHighlight)
	if !framed { // else the frame with its fields stays
		p.drawFrame()
	}
	if p.focusPending {
		p.focus()
		p.focusPending = p.focusPending && v.Loading // an empty folder has no list
	}
}

// drawFrame puts the controls around the list.
func (p *Page) drawFrame() {
	v := p.view
	up := widgets.NewIconButton("up", "Parent folder", p.model.Up)
	if v.Dir == "" {
		up.Hide()
	}
	row := []fyne.CanvasObject{up, p.pathBar.box}
	if v.CanBrowse && !v.ReadOnly {
		for _, b := range p.selectionButtons {
			row = append(row, b)
		}
		name := "New folder"
		if p.isBeside {
			name = ""
		}
		create := widgets.NewButton(name, "plus", p.actions.newFolder)
		create.Name = "New folder"
		row = append(row, create)
	}
	top := widgets.Col(style.Inside, p.filter, widgets.Row(style.Inside, 1, row...))
	widgets.SetContent(p.Box, head{p}.wrap(widgets.Border(widgets.Inset(0, 0, style.Inside, 0, top), widgets.Inset(style.Gap, 0, style.Inside, 0, p.note), nil, nil, p.body)))
}

// replaceList replaces the list, which loses the focus: keys must not act on hidden content.
func (p *Page) replaceList(drawn string, o fyne.CanvasObject) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(p.Box); c != nil {
		c.Unfocus()
	}
	p.drawnKey, p.isListShown = drawn, false
	widgets.SetContent(p.Box, o)
}

func (p *Page) frameKey() string {
	v := p.view
	return fmt.Sprint(v.Place == "", v.Dir == "", v.CanBrowse, v.ReadOnly, len(v.Changed) > 0, p.isBeside, p.pair.hasRoom())
}
