// Package chatwindow are the windows of chats: a chat in a frame with its messages and the files that
// are dropped on it, in the main window or in one of its own, and the actions on chats.
package chatwindow

import (
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/chat"
	"fairlead/app/messages"
	"fairlead/app/send"
	"fairlead/app/widgets"
)

// Frame is a chat in the main window or in one of its own. It belongs to the GUI thread.
type Frame struct {
	Window   fyne.Window
	Page     *chat.Page
	Messages *messages.Messages
	Drops    *send.Area
	Bar      *widgets.Rect // for another computer; nil otherwise

	// IsVisible reports whether the window shows the chat.
	IsVisible func() bool
	isOwn     bool // it is a window of its own
}

// Draw shows the present state of the chat.
func (c *Frame) Draw() {
	c.Page.Draw()
	if c.isOwn {
		c.Window.SetTitle(c.Page.Title() + " – Fairlead")
	}
}

// Tick passes the time to the chat and its messages.
func (c *Frame) Tick(now time.Time) {
	c.Page.Tick(now)
	c.Messages.Tick(now)
}

// FocusComposer focuses the message field, even if it was never drawn.
func (c *Frame) FocusComposer() { c.Window.Canvas().Focus(c.Page.Pane.Composer()) }
