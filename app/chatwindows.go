package app

import (
	"context"
	"io"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/native"
	"fairlead/gateway/export"
	"fairlead/gateway/protocol"
)

// chatWindows manages the windows of single chats, and carries out the actions on chats.
type chatWindows struct {
	ui      *ui
	windows map[protocol.SessionKey]*conversation
	sent    protocol.SessionKey // where the last message was sent: this chat is in use before the gateway says so
}

// Create opens a new chat. If there is an unused one, that is opened instead, so that the list
// does not fill with empty chats.
func (cw *chatWindows) Create() {
	cw.ui.main.conversation.saveDraft()
	cw.ui.main.sidebar.Search.SetText("") // shows the list with the new chat
	unused := cw.ui.view().Sessions.List.Unused()
	if unused != "" && unused != cw.sent && cw.windows[unused] == nil && !cw.ui.drafts.has(unused) {
		cw.ui.main.open(unused)
	} else {
		request(cw.ui, cw.ui.main.conversation.window, "The chat could not be created: ", cw.ui.backend.state.Chats.Create, cw.ui.main.open)
	}
	cw.ui.main.endFirstRun()
	cw.ui.main.closeDrawer()
}

// export saves a chat to a file that the person chooses.
func (cw *chatWindows) export(key protocol.SessionKey, f export.Format, window fyne.Window) {
	chats := cw.ui.backend.state.Chats
	cw.ui.opener.save(window, host.SaveFile{Name: f.FileName(chats.Title(key)), Title: "Export chat", Failed: "The chat could not be saved", Write: func(ctx context.Context, w io.Writer) (string, error) {
		return "", chats.Export(ctx, key, f, w)
	}})
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

// release drops a chat's messages when no window shows it any more.
func (cw *chatWindows) release(key protocol.SessionKey) {
	if cw.ui.main.conversation.key != key && cw.windows[key] == nil {
		cw.ui.backend.state.Chats.Close(key)
	}
}

func (cw *chatWindows) openWindow(key protocol.SessionKey) {
	if c := cw.windows[key]; c != nil {
		c.window.Show()
		c.window.RequestFocus()
		return
	}
	var c *conversation
	w := native.NewWindow(cw.ui.app, "Fairlead", func() { cw.windowClosed(c) })
	w.SetPadded(false)
	c = newConversation(cw.ui, w)
	cw.windows[key] = c
	c.toasts = newToasts(c.pane)
	c.bar = cw.ui.newBar()
	w.SetContent(belowBar(c.bar, container.NewStack(c.pane, c.toasts.box, c.drops.mark.Box)))
	last := cw.ui.backend.prefs.get()
	w.Resize(sizeOr(last.ChatWidth, last.ChatHeight, fyne.NewSize(760, 700)))
	register(w, c.bindings())
	w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		switch e.Name {
		case fyne.KeyEscape:
			c.focusComposer()
		case fyne.KeyF2:
			c.obey(&desktop.CustomShortcut{KeyName: fyne.KeyF2})
		}
	})
	if cw.ui.main.conversation.key == key { // move the draft along
		cw.ui.main.conversation.saveDraft()
		cw.ui.main.conversation.field.set(draft{})
	}
	c.load(key)
	w.Show()
	c.focusComposer()
}

// at returns the chat in a window of its own; nil for other windows.
func (cw *chatWindows) at(w fyne.Window) *conversation {
	for _, c := range cw.windows {
		if c.window == w {
			return c
		}
	}
	return nil
}

// windowClosed releases the resources of a closed window.
func (cw *chatWindows) windowClosed(c *conversation) {
	c.saveDraft()
	c.saveSize()
	c.stop()
	delete(cw.windows, c.key)
	if cw.ui.main.conversation.key == c.key && cw.ui.main.conversation.pane.Draft() == "" {
		cw.ui.main.conversation.field.set(cw.ui.drafts.byChat[c.key])
	}
	cw.release(c.key)
}

// draw shows the chats that are open.
func (cw *chatWindows) draw(feed.View) {
	cw.ui.main.conversation.draw()
	for _, c := range cw.windows {
		c.draw()
	}
}
