package app

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/chat"
	"fairlead/app/feed"
	"fairlead/app/messages"
	"fairlead/app/native"
	"fairlead/app/shortcuts"
	"fairlead/gateway/export"
	"fairlead/gateway/protocol"
)

// chatWindows manages the windows of single chats, and carries out the actions on chats.
type chatWindows struct {
	ui      *ui
	windows map[protocol.SessionKey]*chatFrame
}

// Create opens a new chat. If there is an unused one, that is opened instead, so that the list
// does not fill with empty chats.
func (cw *chatWindows) Create() {
	cw.ui.main.conversation.page.SaveDraft()
	cw.ui.main.sidebar.Search.SetText("") // shows the list with the new chat
	if unused := cw.ui.view().Sessions.List.Unused(); unused != "" && cw.ui.drafts.IsUnused(unused) {
		cw.ui.main.open(unused)
	} else {
		request(cw.ui, cw.ui.main.conversation.window, "The chat could not be created: ", cw.ui.backend.Chats.Create, cw.ui.main.open)
	}
	cw.ui.main.endFirstRun()
	cw.ui.main.closeDrawer()
}

// export saves a chat to a file that the person chooses.
func (cw *chatWindows) export(key protocol.SessionKey, f export.Format, window fyne.Window) {
	e := cw.ui.envIn(window)
	e.Open(chat.ExportFile(e, key, f))
}

// openAnother opens the listed chat with the newest activity other than the given ones, or the main
// chat.
func (cw *chatWindows) openAnother(but []protocol.SessionKey) {
	for _, e := range cw.ui.view().Sessions.List {
		if !e.Archived && !slices.Contains(but, e.SessionKey) {
			cw.ui.main.open(e.SessionKey)
			return
		}
	}
	cw.ui.main.open(cw.ui.main.mainChat())
}

func (cw *chatWindows) openWindow(key protocol.SessionKey) {
	if c := cw.windows[key]; c != nil {
		c.window.Show()
		c.window.RequestFocus()
		return
	}
	var c *chatFrame
	w := native.NewWindow(cw.ui.app, "Fairlead", func() { cw.windowClosed(c) })
	w.SetPadded(false)
	c = newChatFrame(cw.ui, w, true)
	cw.windows[key] = c
	c.messages = messages.New(c.page.Pane, func() messages.Place { return messages.Place{Chat: key} }, func() { c.messages.Box.Refresh() })
	c.bar = cw.ui.newBar()
	w.SetContent(belowBar(c.bar, container.NewStack(c.page.Pane, c.messages.Box, c.drops.mark.Box)))
	last := cw.ui.backend.Prefs.Get()
	w.Resize(sizeOr(last.ChatWidth, last.ChatHeight, fyne.NewSize(760, 700)))
	shortcuts.Register(w, c.bindings())
	w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		switch e.Name {
		case fyne.KeyEscape:
			c.focusComposer()
		case fyne.KeyF2:
			c.obey(&desktop.CustomShortcut{KeyName: fyne.KeyF2})
		}
	})
	if cw.ui.main.conversation.page.Key() == key { // move the draft along
		cw.ui.main.conversation.page.GiveUpDraft()
	}
	if cw.ui.running {
		c.page.Watch()
	}
	c.page.Load(key)
	c.draw()
	w.Show()
	c.focusComposer()
}

// at returns the chat in a window: one of its own, or else the main window.
func (cw *chatWindows) at(w fyne.Window) *chatFrame {
	for _, c := range cw.windows {
		if c.window == w {
			return c
		}
	}
	return cw.ui.main.conversation
}

// windowClosed releases the resources of a closed window.
func (cw *chatWindows) windowClosed(c *chatFrame) {
	c.saveSize()
	c.page.Close()
	delete(cw.windows, c.page.Key())
	if cw.ui.main.conversation.page.Key() == c.page.Key() {
		cw.ui.main.conversation.page.TakeDraft()
	}
}

// draw shows the chats that are open.
func (cw *chatWindows) draw(feed.View) {
	cw.ui.main.conversation.draw()
	for _, c := range cw.windows {
		c.draw()
	}
}
