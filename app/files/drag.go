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
	if dir, ok = p.folderAt(at); !ok || !p.changes() {
		return "", "", false
	}
	return p.view.Place, p.whole(dir), true
}

func (p *Page) folderAt(at fyne.Position) (dir string, ok bool) {
	if p.viewer != nil || p.view.Place == "" || p.view.Problem != "" || !p.view.Serves {
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

// goal is the target of a drag from a list.
type goal struct {
	to  *Page // nil outside the lists
	dir string
}

// goalAt returns the target at a position of the window for a drag from p.
func (p *Page) goalAt(at fyne.Position) goal {
	for _, q := range p.pair.shown(p) {
		if dir, ok := q.folderAt(at); ok && q.changes() {
			if q.view.Place == p.view.Place && dir == p.view.Dir {
				return goal{} // the files are in this folder already
			}
			return goal{q, dir}
		}
	}
	return goal{}
}

// dragged highlights the target of a drag.
func (p *Page) dragged(at fyne.Position) {
	p.drag = at
	g := goal{}
	if p.view.Place != "" {
		g = p.goalAt(at)
	}
	for _, q := range p.pair.shown(p) {
		q.aimed(g)
	}
	if g.to != nil {
		p.note.SetText(p.intent(g))
	} else {
		p.picked()
	}
}

// aimed highlights this list if it is the target.
func (p *Page) aimed(g goal) {
	row := ""
	if g.to == p && g.dir != p.view.Dir {
		row = g.dir
	}
	p.list.aimAt(row)
	if whole := g.to == p && row == ""; whole != p.aim.Visible() {
		if whole {
			p.aim.Show()
		} else {
			p.aim.Hide()
		}
		p.body.Refresh()
	}
}

// intent describes the effect of dropping here.
func (p *Page) intent(g goal) string {
	chosen := p.list.chosen()
	what := fmt.Sprint(len(chosen), " items")
	if len(chosen) == 1 {
		what = "“" + chosen[0].Title() + "”"
	}
	into := path.Base(g.to.whole(g.dir))
	if g.to.view.Place == p.view.Place {
		return fmt.Sprintf("Move %s to %s", what, into)
	}
	return fmt.Sprintf("Send %s to %s, folder %s", what, g.to.place.Text, into)
}

// dropped completes a drag from the list: in a list of the same machine the files are moved, in
// another machine's list they are sent, and anywhere else the window decides.
func (p *Page) dropped() {
	at := p.drag
	p.drag = fyne.Position{}
	chosen := p.list.chosen()
	for _, q := range p.pair.shown(p) {
		q.aimed(goal{})
	}
	p.picked()
	if at.IsZero() || len(chosen) == 0 || p.view.Place == "" {
		return
	}
	paths := make([]string, len(chosen))
	for i, e := range chosen {
		paths[i] = p.whole(e.Path)
	}
	g := p.goalAt(at)
	switch {
	case g.to != nil && g.to.view.Place == p.view.Place:
		if p.changes() {
			p.moveTo(chosen, g.dir)
		}
	case g.to != nil:
		if p.h.Send != nil {
			p.h.Send(p.view.Place, paths, g.to.view.Place, g.to.whole(g.dir))
		}
	case p.h.Drop != nil && !p.pair.has(p, at):
		p.h.Drop(p.view.Place, paths, at)
	}
}

// moveTo moves dragged files into another folder of the machine, and offers to undo that.
func (p *Page) moveTo(list []state.FileEntry, dir string) {
	into := path.Base(dir)
	if dir == "" {
		into = "the workspace"
	}
	p.undoable(list, "moved into "+into, func(ctx context.Context, paths []string) (int, func(), error) { return p.m.MoveInto(ctx, paths, dir) })
}
