package app

import (
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/chat"
	"fairlead/app/messages"
	"fairlead/app/preferences"
	"fairlead/app/widgets"
)

// chatFrame is a chat in the main window or in one of its own. It belongs to the GUI thread.
type chatFrame struct {
	ui       *ui
	window   fyne.Window
	page     *chat.Page
	messages *messages.Messages
	drops    *drops
	bar      *widgets.Rect // of its own window, for another computer; nil otherwise
}

func newChatFrame(u *ui, w fyne.Window, isOwn bool) *chatFrame {
	c := &chatFrame{ui: u, window: w}
	c.drops = &drops{c: c, mark: widgets.NewDropMark()}
	menu := func() []*fyne.MenuItem { return u.chats.chatMenu(c.page.Entry(), c) }
	c.page = chat.NewPage(u.ctx, u.envIn(w), menu, u.drafts, isOwn)
	c.drops.accept()
	return c
}

// draw shows the present state of the chat.
func (c *chatFrame) draw() {
	c.page.Draw()
	if c != c.ui.main.conversation {
		c.window.SetTitle(c.page.Title() + " – Fairlead")
	}
}

func (c *chatFrame) tick(now time.Time) {
	c.page.Tick(now)
	c.messages.Tick(now)
}

// focusComposer focuses the message field, even if it was never drawn.
func (c *chatFrame) focusComposer() { c.window.Canvas().Focus(c.page.Pane.Composer()) }

// saveSize saves the window's size as the initial size of the next chat window.
func (c *chatFrame) saveSize() {
	size := c.window.Canvas().Size()
	c.ui.backend.Prefs.Update(func(r *preferences.Preferences) { r.ChatWidth, r.ChatHeight = size.Width, size.Height })
}
