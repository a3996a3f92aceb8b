package files

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/widgets"
)

// createButtons creates the buttons for the selection.
func (p *Page) createButtons() {
	p.selectionButtons = []*widgets.Button{widgets.NewQuietButton("", "edit", p.startRename), widgets.NewQuietButton("", "trash", p.deleteSelection)}
}

// canChange reports whether files can be changed here.
func (p *Page) canChange() bool { return p.view.Place != "" && p.view.CanBrowse && !p.view.ReadOnly }

// showSelection describes the selection.
func (p *Page) showSelection() {
	chosen := p.list.selected()
	note := p.view.Note
	var size int64
	for _, e := range chosen {
		size += e.Info.Size
	}
	switch {
	case len(chosen) > 1 && size > 0:
		note = fmt.Sprintf("%d of %d selected, %s", len(chosen), len(p.view.Entries), state.SizeText(size))
	case len(chosen) > 1:
		note = fmt.Sprintf("%d of %d selected", len(chosen), len(p.view.Entries))
	case note == "" && len(p.view.Entries) > 0 && p.view.CanBrowse:
		note = state.Plural(len(p.view.Entries), "item", "items")
	}
	if why := p.view.WatchProblem; why != "" {
		note = strings.TrimPrefix(note+" · Changes in subfolders do not appear immediately: "+why, " · ")
	}
	if p.offline && len(p.view.Entries) > 0 {
		note = strings.TrimSuffix("The machine is offline. This is its last known state · "+note, " · ")
	}
	p.note.SetText(note)
	setEnabled(p.selectionButtons[0], len(chosen) == 1)
	setEnabled(p.selectionButtons[1], len(chosen) > 0)
}

func setEnabled(b *widgets.Button, on bool) {
	if on {
		b.Enable()
	} else {
		b.Disable()
	}
}

// handleKey handles the keys that the list does not use.
func (p *Page) handleKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyBackspace:
		p.model.Up()
	case fyne.KeyF2:
		p.startRename()
	case fyne.KeyDelete:
		p.deleteSelection()
	case fyne.KeyF3:
		p.pair.Toggle()
	case fyne.KeyF5:
		p.model.Reload()
	case fyne.KeyEscape:
		p.list.selection.None()
		p.list.selectionChanged()
	}
}

// EditPath lets the person type the folder's path (Ctrl+L).
func (p *Page) EditPath() {
	if p.viewer == nil {
		p.pathBar.edit()
	}
}

func (p *Page) startRename() {
	if chosen := p.list.selected(); p.canChange() && len(chosen) == 1 {
		p.list.startRename(chosen[0].Path)
	}
}

// renameFile renames a file and offers to undo that.
func (p *Page) renameFile(file, name string) {
	type done struct {
		to   string
		undo func()
	}
	bind.Go(p.ctx, func(ctx context.Context) (done, error) {
		to, undo, err := p.model.Rename(ctx, file, name)
		return done{to, undo}, err
	}, func(d done, err error) {
		if err != nil {
			p.showError("Could not rename the file", err)
			return
		}
		if d.undo != nil {
			p.h.Undo(fmt.Sprintf("Renamed “%s” to “%s”.", state.VisibleName(path.Base(file)), state.VisibleName(path.Base(d.to))), d.undo, time.Now().Add(state.UndoTime))
		}
		p.selectLater(d.to, "")
	})
}

// selectLater selects a path, or starts renaming it, once the list contains it. It waits for the
// event that adds it: earlier events in between still show the old state and would deselect the
// path.
func (p *Page) selectLater(follow, rename string) {
	p.selectPath, p.renamePath = follow, rename
	p.show(p.view)
}

// newFolder creates a folder and lets the person type its name.
func (p *Page) newFolder() {
	name := p.view.NewName()
	bind.Go(p.ctx, func(ctx context.Context) (string, error) { return p.model.MakeFolder(ctx, name) }, func(made string, err error) {
		if err != nil {
			p.showError("Could not create the folder", err)
			return
		}
		p.selectLater("", made)
	})
}

// deleteSelection deletes the selection and offers to undo that.
func (p *Page) deleteSelection() {
	chosen := p.list.selected()
	if !p.canChange() || len(chosen) == 0 {
		return
	}
	p.doUndoable(chosen, "deleted", func(ctx context.Context, paths []string) (int, func(), error) { return p.model.Trash(ctx, paths) })
}

// doUndoable performs an action on files, reports their number, and offers to undo it. did is a
// word such as "deleted".
func (p *Page) doUndoable(list []state.FileEntry, did string, do func(ctx context.Context, paths []string) (n int, undo func(), err error)) {
	paths := make([]string, len(list))
	for i, e := range list {
		paths[i] = e.Path
	}
	type done struct {
		n    int
		undo func()
	}
	bind.Go(p.ctx, func(ctx context.Context) (done, error) {
		n, undo, err := do(ctx, paths)
		return done{n, undo}, err
	}, func(d done, err error) {
		if d.n > 0 {
			text := fmt.Sprintf("%d items %s.", d.n, did)
			if d.n == 1 {
				text = fmt.Sprintf("“%s” %s.", list[0].Title(), did)
			}
			p.h.Undo(text, d.undo, time.Now().Add(state.UndoTime))
		}
		if err != nil {
			word, _, _ := strings.Cut(did, " ")
			p.showError("Some items were not "+word, err)
		}
	})
}

// isThisComputer reports whether the files shown are this computer's.
func (p *Page) isThisComputer() bool {
	for _, n := range p.nodes {
		if n.ID == p.view.Place {
			return n.Local && p.h.Open != nil
		}
	}
	return false
}

// absolutePath returns a path in the notation of its machine's system.
func (p *Page) absolutePath(file string) string {
	for _, n := range p.nodes {
		if n.ID == p.view.Place && n.Host != nil && !strings.HasPrefix(file, "/") && !(len(file) > 1 && file[1] == ':') {
			return strings.TrimSuffix(strings.TrimRight(n.Host.Workspace, `/\`)+"/"+file, "/")
		}
	}
	return file
}

// menu offers the actions for the selection.
func (p *Page) menu(at fyne.Position) {
	chosen := p.list.selected()
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
	add("Open", one, func() { p.openEntry(e) })
	if p.isThisComputer() {
		add("Open with default app", one, func() { p.h.Open(p.absolutePath(e.Path)) })
	} else if p.h.Fetch != nil && p.view.Place != "" {
		place := p.view.Place
		add("Copy to this computer…", one, func() { p.h.Fetch(place, e.Path) })
	}
	add("Copy path", one, func() { p.h.Copy(p.absolutePath(e.Path)) })
	if p.view.Place != "" && p.view.CanBrowse {
		items = append(items, fyne.NewMenuItemSeparator())
		add("Rename", one && p.canChange(), p.startRename)
		add("Delete", p.canChange(), p.deleteSelection)
		add("New folder", p.canChange(), p.newFolder)
	}
	widgets.ShowMenuAt(p.list, at, items)
}
