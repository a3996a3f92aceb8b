package chatwindow

import (
	"context"
	"maps"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/chat"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/messages"
	"fairlead/app/native"
	"fairlead/app/preferences"
	"fairlead/app/send"
	"fairlead/app/shortcuts"
	"fairlead/app/sidebar"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Main is the main window.
type Main interface {
	// Frame is the chat in it.
	Frame() *Frame
	// Show brings the window to the front.
	Show()
	// Choose shows a chat as if it was chosen in the list.
	Choose(protocol.SessionKey)
	// Create opens a new chat.
	Create()
	// Update draws the list of chats.
	Update()
}

// Options are what the windows share.
type Options struct {
	Main   Main
	App    fyne.App
	Feed   *feed.Feed
	Prefs  *preferences.Store
	Drafts *chat.Drafts
	Unread *sidebar.Unread
	Sender *send.Sender
	// Env returns what a page in a window gets; nil is the main window.
	Env  func(fyne.Window) host.Env
	Bars Bars
	Quit func()
}

// Windows manages the windows of single chats.
type Windows struct {
	Attention *Attention
	Actions   *Actions
	Own       map[protocol.SessionKey]*Frame

	ctx      context.Context
	o        Options
	watching bool
}

// New returns the windows of chats, which work until ctx ends.
func New(ctx context.Context, o Options) *Windows {
	cw := &Windows{Attention: &Attention{o.Main, o.Env(nil), o.Feed, o.Unread}, Own: make(map[protocol.SessionKey]*Frame), ctx: ctx, o: o}
	cw.Actions = &Actions{cw, ctx, o}
	return cw
}

// NewFrame creates the frame of the main window.
func (cw *Windows) NewFrame(w fyne.Window, t send.Targets) *Frame {
	return cw.newFrame(w, nil, t, false)
}

// newFrame creates a frame. at is the window for what the chat asks of it; nil is the main window.
func (cw *Windows) newFrame(w, at fyne.Window, t send.Targets, isOwn bool) *Frame {
	c := &Frame{Window: w, isOwn: isOwn, IsVisible: func() bool { return true }, Drops: send.NewArea(cw.ctx, t)}
	menu := func() []*fyne.MenuItem { return cw.Actions.ChatMenu(c.Page.Entry(), c) }
	c.Page = chat.NewPage(cw.ctx, cw.o.Env(at), menu, cw.o.Drafts, isOwn)
	c.Drops.Accept(w)
	return c
}

// Watch makes all chats follow their messages.
func (cw *Windows) Watch() {
	cw.watching = true
	cw.o.Main.Frame().Page.Watch()
}

// chatTargets puts all files into a chat.
type chatTargets struct {
	sender *send.Sender
	frame  *Frame
}

func (t *chatTargets) At(fyne.Position) send.Drop { return t.sender.OnChat(t.frame.Page.Pane) }
func (*chatTargets) Mark(fyne.Position) func()    { return nil }

// OpenWindow opens a chat in a window of its own, or shows that.
func (cw *Windows) OpenWindow(key protocol.SessionKey) {
	if c := cw.Own[key]; c != nil {
		c.Window.Show()
		c.Window.RequestFocus()
		return
	}
	var c *Frame
	w := native.NewWindow(cw.o.App, "Fairlead", func() { cw.windowClosed(c) })
	w.SetPadded(false)
	targets := &chatTargets{sender: cw.o.Sender}
	c = cw.newFrame(w, w, targets, true)
	targets.frame = c
	cw.Own[key] = c
	c.Messages = messages.New(c.Page.Pane, func() messages.Place { return messages.Place{Chat: key} }, func() { c.Messages.Box.Refresh() })
	c.Bar = cw.o.Bars.New()
	w.SetContent(widgets.Readable(BelowBar(c.Bar, container.NewStack(c.Page.Pane, c.Messages.Box, c.Drops.Mark.Box))))
	last := cw.o.Prefs.Get()
	w.Resize(last.ChatSize(fyne.NewSize(760, 700)))
	shortcuts.Register(w, cw.OwnKeys(c))
	w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		switch e.Name {
		case fyne.KeyEscape:
			c.FocusComposer()
		case fyne.KeyF2:
			cw.Actions.Obey(c, &desktop.CustomShortcut{KeyName: fyne.KeyF2})
		}
	})
	if cw.o.Main.Frame().Page.Key() == key { // move the draft along
		cw.o.Main.Frame().Page.GiveUpDraft()
	}
	if cw.watching {
		c.Page.Watch()
	}
	c.Page.Load(key)
	c.Draw()
	w.Show()
	c.FocusComposer()
}

// At returns the chat in a window: one of its own, or else the main window.
func (cw *Windows) At(w fyne.Window) *Frame {
	for _, c := range cw.Own {
		if c.Window == w {
			return c
		}
	}
	return cw.o.Main.Frame()
}

// windowClosed releases the resources of a closed window.
func (cw *Windows) windowClosed(c *Frame) {
	cw.saveSize(c)
	c.Page.Close()
	delete(cw.Own, c.Page.Key())
	if cw.o.Main.Frame().Page.Key() == c.Page.Key() {
		cw.o.Main.Frame().Page.TakeDraft()
	}
}

// frames are the chats that are open, in the main window and in their own.
func (cw *Windows) frames() []*Frame {
	return append(slices.Collect(maps.Values(cw.Own)), cw.o.Main.Frame())
}

// Draw shows the chats that are open.
func (cw *Windows) Draw(feed.View) {
	for _, c := range cw.frames() {
		c.Draw()
	}
}

// Tick passes the time to the chats.
func (cw *Windows) Tick(now time.Time) {
	for _, c := range cw.frames() {
		c.Tick(now)
	}
}

// Save saves the drafts of all chats, and the sizes of their own windows.
func (cw *Windows) Save() {
	cw.o.Main.Frame().Page.SaveDraft()
	for _, c := range cw.Own {
		c.Page.SaveDraft()
		cw.saveSize(c)
	}
}

// saveSize saves a window's size as the initial size of the next one.
func (cw *Windows) saveSize(c *Frame) {
	size := c.Window.Canvas().Size()
	cw.o.Prefs.Update(func(r *preferences.Preferences) { r.ChatWidth, r.ChatHeight = size.Width, size.Height })
}
