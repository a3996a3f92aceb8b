package files

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/app/wording"
)

type actions struct{ page *Page }

// undoable is an action that Ctrl+Z undoes, also after the message about it is gone.
type undoable struct{ undo func() }

// maxUndoable is the number of actions that can be undone.
const maxUndoable = 20

// offerUndo offers to undo an action, in a message and with Ctrl+Z; it can be undone once.
func (a actions) offerUndo(text string, undo func()) {
	p := a.page
	u := &undoable{}
	u.undo = func() {
		if slices.Contains(p.undos, u) {
			p.undos = slices.DeleteFunc(p.undos, func(other *undoable) bool { return other == u })
			undo()
		}
	}
	p.undos = append(p.undos, u)
	if len(p.undos) > maxUndoable {
		p.undos = p.undos[1:]
	}
	p.e.Undo(text, u.undo, time.Now().Add(feed.UndoTime))
}

// undo undoes the last action on this page.
func (a actions) undo() {
	p := a.page
	if n := len(p.undos); n > 0 {
		p.undos[n-1].undo()
		return
	}
	p.e.Say("There is nothing to undo.")
}

func (a actions) startRename() {
	if chosen := a.page.list.selectedEntries(); a.page.view.CanChange() && len(chosen) == 1 {
		a.page.list.startRename(chosen[0].Path)
	}
}

func (a actions) rename(file, name string) {
	p := a.page
	to, undo := "", func() {}
	p.e.Run(p.ctx, "Could not rename the file", func(ctx context.Context) (err error) {
		to, undo, err = p.model.Folder.Rename(ctx, file, name)
		return err
	}, func() {
		if undo != nil {
			a.offerUndo(fmt.Sprintf("Renamed “%s” to “%s”.", wording.VisibleName(path.Base(file)), wording.VisibleName(path.Base(to))), undo)
		}
		p.selectLater(to, "")
	})
}

func (a actions) newFolder() {
	p := a.page
	name := unusedName(p.view.Entries)
	made := ""
	p.e.Run(p.ctx, "Could not create the folder", func(ctx context.Context) (err error) {
		made, err = p.model.Folder.Make(ctx, name)
		return err
	}, func() { p.selectLater("", made) })
}

func (a actions) delete() {
	if chosen := a.page.list.selectedEntries(); a.page.view.CanChange() && len(chosen) > 0 {
		a.run(chosen, "deleted", a.page.model.Folder.Trash)
	}
}

// move moves dragged files into another folder of the machine, and offers to undo that.
func (a actions) move(list []Entry, dir string) {
	into := path.Base(dir)
	if dir == "" {
		into = "the workspace"
	}
	a.run(list, "moved into "+into, func(ctx context.Context, paths []string) (int, func(), error) {
		return a.page.model.Folder.MoveInto(ctx, paths, dir)
	})
}

// run changes files, reports it and offers to undo it. did is a word such as "deleted".
func (a actions) run(list []Entry, did string, do func(ctx context.Context, paths []string) (n int, undo func(), err error)) {
	paths := lists.Map(list, func(e Entry) string { return e.Path })
	n, undo := 0, func() {}
	bind.Run(a.page.ctx, func(ctx context.Context) (err error) {
		n, undo, err = do(ctx, paths)
		return err
	}, func(err error) {
		if n > 0 {
			text := fmt.Sprintf("%d items were %s.", n, did)
			if n == 1 {
				text = fmt.Sprintf("“%s” was %s.", list[0].Title(), did)
			}
			a.offerUndo(text, undo)
		}
		if err != nil {
			word, _, _ := strings.Cut(did, " ")
			a.page.e.Say("Some items were not " + word + ": " + err.Error())
		}
	})
}

func (a actions) menu(at fyne.Position) {
	p := a.page
	chosen := p.list.selectedEntries()
	if len(chosen) == 0 {
		return
	}
	e, one := chosen[0], len(chosen) == 1
	var items []*fyne.MenuItem
	add := func(text string, on bool, do func()) {
		item := fyne.NewMenuItem(text, do)
		item.Disabled = !on
		items = append(items, item)
	}
	add("Open", one, func() { p.list.onOpen(e) })
	if words, _, open := p.openOutside(e.Path); open != nil {
		add(words, one, open)
	}
	if p.view.Machine(p.e.Feed.Machines.Get()).Local && !p.e.Feed.Status.Get().Remote {
		add("Show in folder", one, func() { p.e.Open(host.Reveal(p.view.AbsolutePath(p.e.Feed.Machines.Get(), e.Path))) })
	}
	add("Copy path", one, func() { p.e.Copy(p.view.AbsolutePath(p.e.Feed.Machines.Get(), e.Path)) })
	if p.view.Place != "" && p.view.CanBrowse {
		items = append(items, fyne.NewMenuItemSeparator())
		add("Rename", one && p.view.CanChange(), a.startRename)
		add("Delete", p.view.CanChange(), a.delete)
		add("New folder", p.view.CanChange(), a.newFolder)
	}
	widgets.ShowMenuAt(p.list, at, items)
}

// dropTarget is the target of a drag from a list.
type dropTarget struct {
	page *Page // nil outside the lists
	dir  string
}

type drag struct {
	page *Page
	at   fyne.Position
}

func (d *drag) target(at fyne.Position) dropTarget {
	p := d.page
	for _, q := range p.pair.visible() {
		if dir, ok := q.folderAt(at); ok && q.view.CanChange() {
			if q.view.Place == p.view.Place && dir == p.view.Dir {
				return dropTarget{} // the files are in this folder already
			}
			return dropTarget{q, dir}
		}
	}
	return dropTarget{}
}

func (d *drag) track(at fyne.Position) {
	p := d.page
	d.at = at
	g := dropTarget{}
	if p.view.Place != "" {
		g = d.target(at)
	}
	for _, q := range p.pair.visible() {
		g.highlight(q)
	}
	if g.page != nil {
		p.note.Set(g.describe(p), style.ColorMuted)
	} else {
		p.showSelection()
	}
}

func (g dropTarget) highlight(p *Page) {
	row := ""
	if g.page == p && g.dir != p.view.Dir {
		row = g.dir
	}
	if p.list.dropPath != row {
		p.list.dropPath = row
		p.list.Refresh()
	}
	if whole := g.page == p && row == ""; whole != p.dropHighlight.Visible() {
		widgets.SetVisible(p.dropHighlight, whole)
		p.body.Refresh()
	}
}

func (g dropTarget) describe(from *Page) string {
	chosen := from.list.selectedEntries()
	what := fmt.Sprint(len(chosen), " items")
	if len(chosen) == 1 {
		what = "“" + chosen[0].Title() + "”"
	}
	into := path.Base(g.page.view.AbsolutePath(g.page.e.Feed.Machines.Get(), g.dir))
	if g.page.view.Place == from.view.Place {
		return fmt.Sprintf("Move %s to %s", what, into)
	}
	return fmt.Sprintf("Send %s to %s, folder %s", what, g.page.place.Text, into)
}

// finish moves files on the same machine. The window sends them to another.
func (d *drag) finish() {
	p, at := d.page, d.at
	d.at = fyne.Position{}
	chosen := p.list.selectedEntries()
	for _, q := range p.pair.visible() {
		dropTarget{}.highlight(q)
	}
	p.showSelection()
	if at.IsZero() || len(chosen) == 0 || p.view.Place == "" {
		return
	}
	paths := lists.Map(chosen, func(e Entry) string { return p.view.AbsolutePath(p.e.Feed.Machines.Get(), e.Path) })
	g := d.target(at)
	switch {
	case g.page != nil && g.page.view.Place == p.view.Place:
		if p.view.CanChange() {
			p.actions.move(chosen, g.dir)
		}
	case g.page != nil || !p.pair.contains(at):
		p.e.Open(host.Drop{Machine: p.view.Place, Paths: paths, At: at})
	}
}
