package window

import (
	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/send"
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

// Drop sends files of a machine to another one in the sidebar, or into the folder of another one on
// the page.
func (w *Window) Drop(d host.Drop) {
	to, _, ok := w.side.machineAt(d.At)
	folder := ""
	if r, isReceiver := w.Pages.Page().(host.Receiver); !ok && isReceiver {
		to, folder, ok = r.At(d.At)
	}
	if ok && to != d.Machine {
		w.o.Sender.Between(d.Machine, d.Paths, to, folder)
	}
}
