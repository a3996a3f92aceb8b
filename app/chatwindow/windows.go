package chatwindow

import (
	"cmp"
	"context"
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
	"fairlead/gateway/export"
	"fairlead/gateway/protocol"
)

// Main is the main window.
type Main interface {
	// Frame is the chat in it.
	Frame() *Frame
	// Open shows a chat.
	Open(protocol.SessionKey)
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
	Env func(fyne.Window) host.Env
	// NewBar returns the bar of another computer; nil for this one.
	NewBar func() *widgets.Rect
	// Keys are the keys of a window of its own.
	Keys func(*Frame) []shortcuts.Binding
}

// Windows manages the windows of single chats, and carries out the actions on chats.
type Windows struct {
	Attention *Attention
	Own       map[protocol.SessionKey]*Frame

	ctx      context.Context
	o        Options
	watching bool
}

// New returns the windows of chats, which work until ctx ends.
func New(ctx context.Context, o Options) *Windows {
	return &Windows{
		Attention: &Attention{o.Main, o.Env(nil), o.Feed, o.Unread}, Own: make(map[protocol.SessionKey]*Frame), ctx: ctx, o: o,
	}
}

// NewFrame creates the frame of the main window.
func (cw *Windows) NewFrame(w fyne.Window, t send.Targets) *Frame {
	return cw.newFrame(w, nil, t, false)
}

// newFrame creates a frame. at is the window for what the chat asks of it; nil is the main window.
func (cw *Windows) newFrame(w, at fyne.Window, t send.Targets, isOwn bool) *Frame {
	c := &Frame{Window: w, isOwn: isOwn, IsVisible: func() bool { return true }, Drops: send.NewArea(cw.ctx, t)}
	menu := func() []*fyne.MenuItem { return cw.ChatMenu(c.Page.Entry(), c) }
	c.Page = chat.NewPage(cw.ctx, cw.o.Env(at), menu, cw.o.Drafts, isOwn)
	c.Drops.Accept(w)
	return c
}

// Create opens a new chat.
func (cw *Windows) Create() { cw.o.Main.Create() }

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

// export saves a chat to a file that the person chooses.
func (cw *Windows) export(key protocol.SessionKey, f export.Format, window fyne.Window) {
	e := cw.o.Env(window)
	e.Open(chat.ExportFile(e, key, f))
}

// openAnother opens the listed chat with the newest activity other than the given ones, or the main
// chat.
func (cw *Windows) openAnother(but []protocol.SessionKey) {
	for _, e := range cw.o.Feed.View().Sessions.List {
		if !e.Archived && !slices.Contains(but, e.SessionKey) {
			cw.o.Main.Open(e.SessionKey)
			return
		}
	}
	cw.o.Main.Open(cmp.Or(cw.o.Feed.View().Status.MainSession, protocol.MainSession))
}

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
	var content fyne.CanvasObject = container.NewStack(c.Page.Pane, c.Messages.Box, c.Drops.Mark.Box)
	if c.Bar = cw.o.NewBar(); c.Bar != nil {
		content = widgets.Border(c.Bar, nil, nil, nil, content)
	}
	w.SetContent(content)
	last := cw.o.Prefs.Get()
	w.Resize(last.ChatSize(fyne.NewSize(760, 700)))
	shortcuts.Register(w, cw.o.Keys(c))
	w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		switch e.Name {
		case fyne.KeyEscape:
			c.FocusComposer()
		case fyne.KeyF2:
			cw.Obey(c, &desktop.CustomShortcut{KeyName: fyne.KeyF2})
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

// Draw shows the chats that are open.
func (cw *Windows) Draw(feed.View) {
	cw.o.Main.Frame().Draw()
	for _, c := range cw.Own {
		c.Draw()
	}
}

// Tick passes the time to the chats.
func (cw *Windows) Tick(now time.Time) {
	cw.o.Main.Frame().Tick(now)
	for _, c := range cw.Own {
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
