package files

import (
	"context"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/host"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// Pair is the page of files: one list, or two beside each other, each with its own machine. If
// there is no room for two, the list used last is shown. It belongs to the GUI thread.
type Pair struct {
	Box *fyne.Container

	ctx        context.Context
	e          host.Env
	left       *Page
	right      *Page // nil with one list
	closeRight context.CancelFunc
	active     *Page // the list used last, the target of actions without a position
	line       *widgets.Rect
	width      float32
}

// NewPair creates the page as the person left it, and follows the gateway until ctx ends.
func NewPair(ctx context.Context, e host.Env) *Pair {
	b := &Pair{ctx: ctx, e: e, line: widgets.NewRect(style.ColorLine, "", 0)}
	b.left = b.newList(ctx)
	b.active = b.left
	b.Box = container.New(&pairLayout{b})
	if last := e.Prefs.Get(); last.FilesTwo {
		b.addRight(last.FilesRight)
	}
	b.layOut()
	return b
}

func (b *Pair) newList(ctx context.Context) *Page {
	p := newPage(ctx, b.e)
	p.pair = b
	bind.Watch(ctx, p.model.Value, p.show)
	crash.WhenDone(ctx, p.model.Close)
	bind.Watch(ctx, b.e.Feed.Watch(b.e.Feed.Status, b.e.Feed.Machines), p.watchMachine)
	return p
}

func minListWidth() float32 { return 340 * style.Size("text") / 14 }

func (b *Pair) hasRoom() bool { return b.width >= 2*minListWidth() }

// Toggle shows or hides the second list.
func (b *Pair) Toggle() {
	switch {
	case b.right != nil:
		if b.active == b.right {
			b.active = b.left
		}
		b.closeRight()
		b.right = nil
		b.active.focus()
	case !b.hasRoom():
		b.e.Say("The window is too narrow for two panes.")
		return
	default:
		b.addRight(b.otherMachine())
	}
	b.layOut()
	b.save()
}

// otherMachine returns a machine for the second list: one that the first does not show.
func (b *Pair) otherMachine() protocol.NodeID {
	for _, n := range b.e.Feed.Machines.Get() {
		if n.ID != b.left.view.Place && n.Online && n.Files {
			return n.ID
		}
	}
	return b.left.view.Place
}

func (b *Pair) addRight(place protocol.NodeID) {
	ctx, cancel := context.WithCancel(b.ctx)
	b.right, b.closeRight = b.newList(ctx), cancel
	b.right.visits.prefs = nil // the left list is the place to return to
	b.right.Open(place)
}

// save remembers whether there are two lists, and the machine of the second.
func (b *Pair) save() {
	right := protocol.NodeID("")
	if b.right != nil {
		right = b.right.model.Value.Get().Place
	}
	b.e.Prefs.Update(func(r *preferences.Preferences) { r.FilesTwo, r.FilesRight = b.right != nil, right })
}

func (b *Pair) visible() []*Page {
	if b.right == nil || !b.hasRoom() {
		return []*Page{b.active}
	}
	return []*Page{b.left, b.right}
}

func (b *Pair) contains(at fyne.Position) bool {
	return slices.ContainsFunc(b.visible(), func(q *Page) bool {
		_, ok := q.folderAt(at)
		return ok
	})
}

func (b *Pair) layOut() {
	shown := b.visible()
	b.Box.Objects = nil
	for i, p := range shown {
		if i > 0 {
			b.Box.Objects = append(b.Box.Objects, b.line)
		}
		b.Box.Objects = append(b.Box.Objects, p.Box)
	}
	for _, p := range shown {
		p.isBeside = len(shown) > 1
		p.draw()
	}
	b.Box.Refresh()
}

// Open shows the files of a machine in the list used last; empty shows the agent's own.
func (b *Pair) Open(id protocol.NodeID) { b.active.Open(id) }

// Content implements [host.View].
func (b *Pair) Content() fyne.CanvasObject { return b.Box }

// OpenAt implements [host.Opener].
func (b *Pair) OpenAt(to host.Target) {
	switch to := to.(type) {
	case host.File:
		b.active.OpenAt(to.Machine, to.Path)
	case host.AgentFile:
		b.active.OpenAt("", string(to))
	case host.Files:
		b.Open(protocol.NodeID(to))
	default:
		b.Open(startPlace(b.e.Feed.View(), b.e.Prefs.Get().FilesPlace))
	}
}

// EditPath lets the person type the folder's path (Ctrl+L).
func (b *Pair) EditPath() { b.active.EditPath() }

// Focus implements [host.Focuser]: it focuses the list as soon as it is shown.
func (b *Pair) Focus(fyne.Canvas) { b.active.focusPending = true }

// ToggleHidden shows hidden files in the list used last, or leaves them out (Ctrl+H).
func (b *Pair) ToggleHidden() { b.active.ToggleHidden() }

// Undo undoes the last action on files (Ctrl+Z).
func (b *Pair) Undo() { b.active.actions.undo() }

// Back closes the file that is open in the list used last, and reports whether there was one.
func (b *Pair) Back() bool { return b.active.Back() }

// At returns the folder at a position of the window, as an absolute path: that of the row there,
// else the folder shown. ok is false outside the lists, and where nothing can be dropped.
func (b *Pair) At(at fyne.Position) (node protocol.NodeID, dir string, ok bool) {
	for _, p := range b.visible() {
		if node, dir, ok = p.At(at); ok {
			return node, dir, true
		}
	}
	return "", "", false
}

// MarkDrop highlights the list or folder at a position, for files of another program that are dragged
// over it, and nothing else.
func (b *Pair) MarkDrop(at fyne.Position) {
	g := dropTarget{}
	for _, p := range b.visible() {
		if dir, ok := p.folderAt(at); ok && p.view.CanChange() {
			g = dropTarget{p, dir}
		}
	}
	for _, p := range b.visible() {
		g.highlight(p)
	}
}

// UnmarkDrop ends the highlight of [Pair.MarkDrop].
func (b *Pair) UnmarkDrop() {
	for _, p := range b.visible() {
		dropTarget{}.highlight(p)
	}
}

// pairLayout gives each list half of the width.
type pairLayout struct{ b *Pair }

func (l *pairLayout) MinSize(o []fyne.CanvasObject) (size fyne.Size) {
	for _, c := range o {
		size = size.Max(c.MinSize())
	}
	return size
}

func (l *pairLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	had := l.b.hasRoom()
	l.b.width = size.Width
	if had != l.b.hasRoom() {
		l.b.layOut() // which repeats the layout
		return
	}
	switch len(o) {
	case 1:
		o[0].Move(fyne.Position{})
		o[0].Resize(size)
	case 3:
		half := (size.Width - 1) / 2
		o[0].Move(fyne.Position{})
		o[0].Resize(fyne.NewSize(half, size.Height))
		o[1].Move(fyne.NewPos(half, 0))
		o[1].Resize(fyne.NewSize(1, size.Height))
		o[2].Move(fyne.NewPos(half+1, 0))
		o[2].Resize(fyne.NewSize(size.Width-half-1, size.Height))
	}
}
