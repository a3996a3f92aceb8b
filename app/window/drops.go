package window

import (
	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/send"
	"fairlead/gateway/protocol"
)

// marker is a page that highlights itself where files go that are dropped on it.
type marker interface {
	MarkDrop(fyne.Position)
	UnmarkDrop()
}

// drops know where files go that are dropped on the window. They implement [send.Targets].
type drops struct {
	sender *send.Sender
	side   *side
	pages  *Pages
	chat   send.Chat
}

// At implements [send.Targets].
func (d *drops) At(at fyne.Position) send.Drop {
	if id, row, ok := d.side.machineAt(at); ok {
		return d.sender.OnMachine(id, row)
	}
	page, box := d.pages.Page(), d.pages.box
	if page == nil {
		return d.sender.OnChat(d.chat)
	}
	if r, ok := page.(host.Receiver); ok {
		switch id, folder, ok := r.At(at); {
		case ok && folder != "":
			return d.sender.OnFolder(id, folder, box)
		case ok:
			return d.sender.OnMachine(id, box)
		}
	}
	return d.sender.OnPage(at, box)
}

// Mark implements [send.Targets].
func (d *drops) Mark(at fyne.Position) (unmark func()) {
	m, ok := d.pages.Page().(marker)
	if !ok {
		return nil
	}
	m.MarkDrop(at)
	return m.UnmarkDrop
}

// SendTo sends files that were dragged from the list of a machine to another one in the sidebar.
func (w *Window) SendTo(from protocol.NodeID, paths []string, at fyne.Position) {
	if to, _, ok := w.side.machineAt(at); ok && to != from {
		w.o.Sender.Between(from, paths, to, "")
	}
}
