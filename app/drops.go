package app

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/native"
	"fairlead/app/send"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// drops shows where files go that other programs drag over the window of a conversation.
type drops struct {
	c      *chatFrame
	mark   *widgets.DropMark
	stop   context.CancelFunc // ends the look whether the drag has left; nil without a drag
	unmark func()             // removes the page's own highlight; may be nil
}

// accept handles files that are dragged over the window.
func (d *drops) accept() {
	d.c.window.SetOnDropped(func(at fyne.Position, uris []fyne.URI) {
		var paths []string
		for _, u := range uris {
			paths = append(paths, u.Path())
		}
		d.targetAt(at).Do(paths)
	})
	native.OnFileDrag(d.c.window, d.drag, d.hide)
}

// leaveInterval is the interval at which is looked whether a drag has left the window, which the
// system does not report.
const leaveInterval = 100 * time.Millisecond

// drag shows where files go that are dragged over the window.
func (d *drops) drag(at fyne.Position) {
	if d.stop == nil {
		var ctx context.Context
		ctx, d.stop = context.WithCancel(d.c.ui.ctx)
		window := d.c.window
		bind.Every(ctx, leaveInterval, func(time.Time) {
			if !native.IsUnderPointer(window) {
				d.hide()
			}
		})
	}
	d.unmark = nil
	files := d.c.ui.nav.files
	if d.c == d.c.ui.main.conversation && files != nil {
		files.MarkDrop(at)
		d.unmark = files.UnmarkDrop
	}
	to := d.targetAt(at)
	d.mark.Show(to.Area, to.Text, to.IsMarked)
}

// hide ends the highlight.
func (d *drops) hide() {
	if d.stop == nil {
		return
	}
	d.stop()
	d.stop = nil
	widgets.Call(d.unmark)
	d.mark.Box.Hide()
}

// targetAt returns where files go that are dropped there: to a machine or folder, if there is one,
// else into the chat.
func (d *drops) targetAt(at fyne.Position) send.Drop {
	u := d.c.ui
	if d.c != u.main.conversation {
		return u.sender.OnChat(d.c.page.Pane)
	}
	if id, row, ok := u.main.machineAt(at); ok {
		return u.sender.OnMachine(id, row)
	}
	if u.nav.files != nil {
		if id, dir, ok := u.nav.files.At(at); ok {
			return u.sender.OnFolder(id, dir, u.nav.box)
		}
	}
	if u.nav.title == "" {
		return u.sender.OnChat(d.c.page.Pane)
	}
	to := protocol.NodeID("")
	if u.nav.dropTarget != nil {
		to = u.nav.dropTarget(at)
	}
	if to == "" {
		return u.sender.OnPage(at, u.nav.box)
	}
	return u.sender.OnMachine(to, u.nav.box)
}

// onMachine sends files that were dragged from a machine's list to another in the sidebar.
func (d *drops) onMachine(from protocol.NodeID, paths []string, at fyne.Position) {
	to, _, ok := d.c.ui.main.machineAt(at)
	if ok && to != from {
		d.c.ui.sender.Between(from, paths, to, "")
	}
}
