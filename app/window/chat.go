package window

import (
	"cmp"

	"fairlead/app/bind"
	"fairlead/app/chatwindow"
	"fairlead/app/host"
	"fairlead/app/preferences"
	"fairlead/app/sidebar"
	"fairlead/gateway/protocol"
)

// Open shows a chat in place of a page; an empty key is the chat that was shown last.
func (w *Window) Open(key protocol.SessionKey) {
	w.Pages.Close()
	if key != "" && key != w.Chat.Page.Key() {
		w.SwitchTo(key)
	}
	w.UpdateSidebar() // also for the chat that was hidden by a page
	if key != "" {
		w.Chat.FocusComposer()
	}
	w.side.close() // after a choice in it
}

// SwitchTo makes another chat the one of the window, now and after the next start.
func (w *Window) SwitchTo(key protocol.SessionKey) {
	if key.Schedule() == "" { // the next start opens a chat of the person
		w.o.Prefs.Update(func(r *preferences.Preferences) { r.Chat = key })
	}
	w.Chat.Page.Load(key)
	w.Chat.Messages.Move()
}

// MainChat is the chat that opens by default.
func (w *Window) MainChat() protocol.SessionKey {
	return cmp.Or(w.o.Feed.View().Status.MainSession, protocol.MainSession)
}

// ShowsChat reports whether this window or one of a single chat shows a chat.
func (w *Window) ShowsChat(key protocol.SessionKey) bool {
	isShown := w.Screen.isVisible && w.Pages.Page() == nil && !w.isFirstRun
	return w.Chats.Own[key] != nil || isShown && w.Chat.Page.Key() == key
}

// FindInChat searches in the chat that is shown, or in all chats if a page is shown instead.
func (w *Window) FindInChat() {
	if w.Pages.Page() != nil || w.isFirstRun {
		w.SearchMessages()
		return
	}
	w.Chat.Page.Pane.Find()
}

// SearchMessages searches all messages for the text in the search field of the sidebar.
func (w *Window) SearchMessages() { w.o.Env(nil).Open(host.Search(w.Sidebar.Search.Text)) }

// UpdateSidebar shows the present view in the sidebar; visible chats become read.
func (w *Window) UpdateSidebar() {
	w.o.Unread.Update(w.o.Feed.View(), w.ShowsChat)
	w.DrawSidebar()
}

// DrawSidebar shows in the sidebar what there is, and what the window shows.
func (w *Window) DrawSidebar() {
	at := sidebar.Place{Chat: w.Chat.Page.Key(), Page: w.Pages.Title()}
	if id, ok := w.Pages.At().(host.Machine); ok {
		at.Machine = protocol.NodeID(id)
	}
	w.Sidebar.Show(at)
}

// FocusSearch focuses the search field of the sidebar, and opens the drawer for it.
func (w *Window) FocusSearch() {
	if w.side.isHidden() {
		w.side.toggle()
	}
	w.canvas().Focus(w.Sidebar.Search)
}

// leaveSidebar closes the drawer, or moves the keyboard to what the window shows.
func (w *Window) leaveSidebar() {
	if w.side.drawer.Visible() {
		w.side.toggle()
		return
	}
	w.restoreFocus()
}

// mainChat is the window as the windows of single chats see it. It implements [chatwindow.Main].
type mainChat struct{ w *Window }

// Frame implements [chatwindow.Main].
func (m mainChat) Frame() *chatwindow.Frame { return m.w.Chat }

// Show implements [chatwindow.Main].
func (m mainChat) Show() { m.w.Show() }

// Choose implements [chatwindow.Main].
func (m mainChat) Choose(key protocol.SessionKey) { m.w.Sidebar.Choose(key) }

// Update implements [chatwindow.Main].
func (m mainChat) Update() { m.w.UpdateSidebar() }

// Create implements [chatwindow.Main]. If there is an unused chat, that is opened instead, so that
// the list does not fill with empty chats.
func (m mainChat) Create() {
	w := m.w
	w.Chat.Page.SaveDraft()
	w.Sidebar.Search.SetText("") // shows the list with the new chat
	if unused := w.o.Feed.View().Sessions.List.Unused(); unused != "" && w.o.Drafts.IsUnused(unused) {
		w.Open(unused)
	} else {
		bind.Go(w.ctx, w.o.Env(nil).Chats.Create, func(key protocol.SessionKey, err error) {
			if err != nil {
				w.Chat.Messages.Show("The chat could not be created: " + err.Error())
				return
			}
			w.Open(key)
		})
	}
	w.EndFirstRun()
	w.side.close()
}
