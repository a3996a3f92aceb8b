package app

import (
	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/chatwindow"
	"fairlead/app/send"
	"fairlead/gateway/protocol"
)

// mainChats is the main window as the windows of chats see it. It implements [chatwindow.Main].
type mainChats struct{ ui *ui }

// Frame implements [chatwindow.Main].
func (m mainChats) Frame() *chatwindow.Frame { return m.ui.main.conversation }

// Open implements [chatwindow.Main].
func (m mainChats) Open(key protocol.SessionKey) { m.ui.main.open(key) }

// Choose implements [chatwindow.Main].
func (m mainChats) Choose(key protocol.SessionKey) { m.ui.main.sidebar.Choose(key) }

// Update implements [chatwindow.Main].
func (m mainChats) Update() { m.ui.main.updateSidebar() }

// Create implements [chatwindow.Main]. If there is an unused chat, that is opened instead, so that
// the list does not fill with empty chats.
func (m mainChats) Create() {
	w, u := m.ui.main, m.ui
	w.conversation.Page.SaveDraft()
	w.sidebar.Search.SetText("") // shows the list with the new chat
	if unused := u.view().Sessions.List.Unused(); unused != "" && u.drafts.IsUnused(unused) {
		w.open(unused)
	} else {
		bind.Go(u.ctx, u.backend.Chats.Create, func(key protocol.SessionKey, err error) {
			if err != nil {
				u.messages.Show("The chat could not be created: " + err.Error())
				return
			}
			w.open(key)
		})
	}
	w.endFirstRun()
	w.closeDrawer()
}

// dropTargets know where files go that are dropped on the main window. They implement [send.Targets].
type dropTargets struct{ w *window }

// At implements [send.Targets].
func (d dropTargets) At(at fyne.Position) send.Drop {
	u := d.w.ui
	if id, row, ok := d.w.machineAt(at); ok {
		return u.sender.OnMachine(id, row)
	}
	if u.nav.files != nil {
		if id, dir, ok := u.nav.files.At(at); ok {
			return u.sender.OnFolder(id, dir, u.nav.box)
		}
	}
	if u.nav.title == "" {
		return u.sender.OnChat(d.w.conversation.Page.Pane)
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

// Mark implements [send.Targets].
func (d dropTargets) Mark(at fyne.Position) (unmark func()) {
	files := d.w.ui.nav.files
	if files == nil {
		return nil
	}
	files.MarkDrop(at)
	return files.UnmarkDrop
}

// onMachine sends files that were dragged from a machine's list to another in the sidebar.
func (d dropTargets) onMachine(from protocol.NodeID, paths []string, at fyne.Position) {
	to, _, ok := d.w.machineAt(at)
	if ok && to != from {
		d.w.ui.sender.Between(from, paths, to, "")
	}
}
