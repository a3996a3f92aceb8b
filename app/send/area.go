package send

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/native"
	"fairlead/app/widgets"
)

// Targets know where files go that are dropped on a window.
type Targets interface {
	// At returns where files go that are dropped at a position: to a machine or folder, or else into
	// a chat.
	At(fyne.Position) Drop
	// Mark highlights where they go in the page itself, and returns what ends that; nil for nothing.
	Mark(fyne.Position) (unmark func())
}

// Area shows where files go that other programs drag over a window.
type Area struct {
	Mark *widgets.DropMark // over the window's content

	ctx     context.Context
	window  fyne.Window
	targets Targets
	stop    context.CancelFunc // ends the look whether the drag has left; nil without a drag
	unmark  func()             // ends the page's own highlight; may be nil
}

// NewArea creates the area of a window. Accept makes the window take files.
func NewArea(ctx context.Context, t Targets) *Area {
	return &Area{Mark: widgets.NewDropMark(), ctx: ctx, targets: t}
}

// Accept handles files that are dragged over a window, instead of an earlier one.
func (a *Area) Accept(w fyne.Window) {
	a.window = w
	w.SetOnDropped(func(at fyne.Position, uris []fyne.URI) {
		var paths []string
		for _, u := range uris {
			paths = append(paths, u.Path())
		}
		a.targets.At(at).Do(paths)
	})
	native.OnFileDrag(w, a.Drag, a.Hide)
}

// leaveInterval is the interval at which is looked whether a drag has left the window, which the
// system does not report.
const leaveInterval = 100 * time.Millisecond

// Drag shows where files go that are dragged over the window.
func (a *Area) Drag(at fyne.Position) {
	if a.stop == nil {
		var ctx context.Context
		ctx, a.stop = context.WithCancel(a.ctx)
		bind.Every(ctx, leaveInterval, func(time.Time) {
			if !native.IsUnderPointer(a.window) {
				a.Hide()
			}
		})
	}
	a.unmark = a.targets.Mark(at)
	to := a.targets.At(at)
	a.Mark.Show(to.Area, to.Text, to.IsMarked)
}

// Hide ends the highlight.
func (a *Area) Hide() {
	if a.stop == nil {
		return
	}
	a.stop()
	a.stop = nil
	widgets.Call(a.unmark)
	a.Mark.Box.Hide()
}
