package files

import (
	"context"
	"fmt"
	"path"

	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// At returns the folder at a position of the window, as an absolute path: that of the row there,
// else the folder shown. ok is false outside the list, and where nothing can be dropped.
func (p *Page) At(at fyne.Position) (node protocol.NodeID, dir string, ok bool) {
	if dir, ok = p.folderAt(at); !ok || !p.canChange() {
		return "", "", false
	}
	return p.view.Place, p.absolutePath(dir), true
}

func (p *Page) folderAt(at fyne.Position) (dir string, ok bool) {
	if p.viewer != nil || p.view.Place == "" || p.view.Problem != "" || !p.view.CanBrowse {
		return "", false
	}
	from, size := fyne.CurrentApp().Driver().AbsolutePositionForObject(p.body), p.body.Size()
	if at.X < from.X || at.Y < from.Y || at.X > from.X+size.Width || at.Y > from.Y+size.Height {
		return "", false
	}
	if e, on := p.list.entryAt(at); on && e.Dir {
		return e.Path, true
	}
	return p.view.Dir, true
}

// dropTarget is the target of a drag from a list.
type dropTarget struct {
	page *Page // nil outside the lists
	dir  string
}

// dropTargetAt returns the target at a position of the window for a drag from p.
func (p *Page) dropTargetAt(at fyne.Position) dropTarget {
	for _, q := range p.pair.visible(p) {
		if dir, ok := q.folderAt(at); ok && q.canChange() {
			if q.view.Place == p.view.Place && dir == p.view.Dir {
				return dropTarget{} // the files are in this folder already
			}
			return dropTarget{q, dir}
		}
	}
	return dropTarget{}
}

// trackDrag highlights the target of a drag.
func (p *Page) trackDrag(at fyne.Position) {
	p.dragPosition = at
	g := dropTarget{}
	if p.view.Place != "" {
		g = p.dropTargetAt(at)
	}
	for _, q := range p.pair.visible(p) {
		q.highlightTarget(g)
	}
	if g.page != nil {
		p.note.SetText(p.dropText(g))
	} else {
		p.showSelection()
	}
}

// highlightTarget highlights this list if it is the target.
func (p *Page) highlightTarget(g dropTarget) {
	row := ""
	if g.page == p && g.dir != p.view.Dir {
		row = g.dir
	}
	p.list.setDropPath(row)
	if whole := g.page == p && row == ""; whole != p.dropHighlight.Visible() {
		if whole {
			p.dropHighlight.Show()
		} else {
			p.dropHighlight.Hide()
		}
		p.body.Refresh()
	}
}

// dropText describes the effect of dropping here.
func (p *Page) dropText(g dropTarget) string {
	chosen := p.list.selected()
	what := fmt.Sprint(len(chosen), " items")
	if len(chosen) == 1 {
		what = "“" + chosen[0].Title() + "”"
	}
	into := path.Base(g.page.absolutePath(g.dir))
	if g.page.view.Place == p.view.Place {
		return fmt.Sprintf("Move %s to %s", what, into)
	}
	return fmt.Sprintf("Send %s to %s, folder %s", what, g.page.place.Text, into)
}

// finishDrag completes a drag from the list: in a list of the same machine the files are moved, in
// another machine's list they are sent, and anywhere else the window decides.
func (p *Page) finishDrag() {
	at := p.dragPosition
	p.dragPosition = fyne.Position{}
	chosen := p.list.selected()
	for _, q := range p.pair.visible(p) {
		q.highlightTarget(dropTarget{})
	}
	p.showSelection()
	if at.IsZero() || len(chosen) == 0 || p.view.Place == "" {
		return
	}
	paths := make([]string, len(chosen))
	for i, e := range chosen {
		paths[i] = p.absolutePath(e.Path)
	}
	g := p.dropTargetAt(at)
	switch {
	case g.page != nil && g.page.view.Place == p.view.Place:
		if p.canChange() {
			p.moveTo(chosen, g.dir)
		}
	case g.page != nil:
		if p.h.Send != nil {
			p.h.Send(p.view.Place, paths, g.page.view.Place, g.page.absolutePath(g.dir))
		}
	case p.h.Drop != nil && !p.pair.contains(p, at):
		p.h.Drop(p.view.Place, paths, at)
	}
}

// moveTo moves dragged files into another folder of the machine, and offers to undo that.
func (p *Page) moveTo(list []state.FileEntry, dir string) {
	into := path.Base(dir)
	if dir == "" {
		into = "the workspace"
	}
	p.doUndoable(list, "moved into "+into, func(ctx context.Context, paths []string) (int, func(), error) {
		return p.model.MoveInto(ctx, paths, dir)
	})
}
