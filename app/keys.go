package app

import (
	"context"

	"fyne.io/fyne/v2"

	"fairlead/app/chat"
	"fairlead/app/chatwindow"
	"fairlead/app/files"
	"fairlead/app/host"
	"fairlead/app/inbox"
	"fairlead/app/shortcuts"
	"fairlead/app/sidebar"
	"fairlead/app/widgets"
)

// Groups of the page of shortcuts.
const (
	groupProgram  = "Program"
	groupChats    = "Chats"
	groupFiles    = "Files"
	groupSettings = "Settings"
	// groups of keys that views handle themselves
	groupChatList  = "List of chats"
	groupInbox     = "Needs you"
	groupApprovals = "Approval dialog"
	groupOutput    = "Output in its own window"
)

// keyGroups are the groups in their order, with the keys that views handle themselves.
func keyGroups() []shortcuts.Group {
	return []shortcuts.Group{
		{Name: groupChats},
		{Name: groupChatList, Keys: sidebar.Keys, Of: groupChats},
		{Name: chat.KeysGroup, Keys: chat.Keys},
		{Name: groupInbox, Keys: inbox.Keys},
		{Name: groupApprovals, Keys: []widgets.KeyText{{Keys: widgets.ShortcutName("Enter", true), Text: "Allow"}, {Keys: "Esc", Text: "Deny"}}},
		{Name: groupProgram},
		{Name: groupFiles, Keys: files.Keys},
		{Name: groupOutput, Keys: []widgets.KeyText{{Keys: widgets.ShortcutName("F", false), Text: "Find"}}},
		{Name: groupSettings},
	}
}

// bindings are the keys of the main window.
func (w *window) bindings() []shortcuts.Binding {
	u := w.ui
	return append(u.chatKeys(w.conversation), []shortcuts.Binding{
		{Group: groupChats, Text: "New chat", Key: fyne.KeyN, Mod: shortcuts.Ctrl, Do: u.chats.Create},
		{Group: groupProgram, Text: "Find anything", Key: fyne.KeyK, Mod: shortcuts.Ctrl, Do: u.nav.openPalette},
		{Group: groupChats, Text: "Search chats", Key: fyne.KeyG, Mod: shortcuts.Ctrl, Do: w.focusSearch},
		{Group: groupChats, Text: "Find in this chat", Key: fyne.KeyF, Mod: shortcuts.Ctrl, Do: w.findInChat},
		{Group: groupChats, Text: "Search all messages", Key: fyne.KeyF, Mod: shortcuts.CtrlShift, Do: func() { u.nav.search(w.sidebar.Search.Text) }},
		{Group: groupChats, Text: "Next question", Key: fyne.KeyJ, Mod: shortcuts.Ctrl, Do: u.chats.Attention.NextQuestion},
		{Group: groupChats, Text: "Next unread chat", Key: fyne.KeyDown, Mod: shortcuts.AltShift, Do: func() { u.chats.Attention.OpenUnread(1) }},
		{Group: groupChats, Text: "Previous unread chat", Key: fyne.KeyUp, Mod: shortcuts.AltShift, Do: func() { u.chats.Attention.OpenUnread(-1) }},
		{Group: groupChats, Text: "Stop the run in progress", Key: fyne.KeyPeriod, Mod: shortcuts.Ctrl, Do: func() { w.conversation.Page.Pane.Stop() }},
		{Group: groupProgram, Text: "Needs you", Key: fyne.KeyI, Mod: shortcuts.Ctrl, Do: u.questions.openPage},
		{Group: groupProgram, Text: "Settings", Key: fyne.KeyComma, Mod: shortcuts.Ctrl, Do: u.settings.open},
		{Group: groupProgram, Text: "Keyboard shortcuts", Key: fyne.KeySlash, Mod: shortcuts.Ctrl, Do: u.nav.openShortcuts},
		{Group: groupProgram, Text: "Close the window", Key: fyne.KeyW, Mod: shortcuts.Ctrl, Do: w.closeByKey},
		{Group: groupProgram, Text: "Quit", Key: fyne.KeyQ, Mod: shortcuts.Ctrl, Do: u.Quit},
		{Group: groupFiles, Text: "Go to a folder", Key: fyne.KeyL, Mod: shortcuts.Ctrl, Do: func() {
			if u.nav.files != nil {
				u.nav.files.EditPath()
			}
		}},
		{Group: groupFiles, Text: "Show or hide hidden files", Key: fyne.KeyH, Mod: shortcuts.Ctrl, Do: func() {
			if u.nav.files != nil {
				u.nav.files.ToggleHidden()
			}
		}},
		{Group: groupFiles, Text: "Undo", Key: fyne.KeyZ, Mod: shortcuts.Ctrl, Do: func() {
			if u.nav.files != nil {
				u.nav.files.Undo()
			}
		}},
		{Group: groupSettings, Text: "Next page", Key: fyne.KeyPageDown, Mod: shortcuts.Ctrl, Do: u.settings.moveTab(1)},
		{Group: groupSettings, Text: "Previous page", Key: fyne.KeyPageUp, Mod: shortcuts.Ctrl, Do: u.settings.moveTab(-1)},
		{Group: groupSettings, Text: "Next page", Key: fyne.KeyTab, Mod: shortcuts.Ctrl, Do: u.settings.moveTab(1)},
		{Group: groupSettings, Text: "Previous page", Key: fyne.KeyTab, Mod: shortcuts.CtrlShift, Do: u.settings.moveTab(-1)},
	}...)
}

// chatKeys are the keys of a chat's menu.
func (u *ui) chatKeys(c *chatwindow.Frame) []shortcuts.Binding {
	do := func(key fyne.Shortcut) func() { return func() { u.chats.Obey(c, key) } }
	return []shortcuts.Binding{
		{Group: groupChats, Text: "Pin or unpin", Key: fyne.KeyP, Mod: shortcuts.Ctrl, Do: do(chatwindow.ListKey(fyne.KeyP))},
		{Group: groupChats, Text: "Mark as read or unread", Key: fyne.KeyU, Mod: shortcuts.Ctrl, Do: do(chatwindow.ListKey(fyne.KeyU))},
		{Group: groupChats, Text: "Archive or restore", Key: fyne.KeyE, Mod: shortcuts.Ctrl, Do: do(chatwindow.ListKey(fyne.KeyE))},
		{Group: groupChats, Text: "Delete", Key: fyne.KeyBackspace, Mod: shortcuts.CtrlShift, Do: do(sidebar.KeyDelete)},
	}
}

// ownKeys are the keys of a chat in a window of its own.
func (u *ui) ownKeys(c *chatwindow.Frame) []shortcuts.Binding {
	return append(u.chatKeys(c), []shortcuts.Binding{
		{Group: groupChats, Text: "New chat", Key: fyne.KeyN, Mod: shortcuts.Ctrl, Do: func() {
			u.chats.Create()
			u.main.show()
		}},
		{Group: groupChats, Text: "Find in this chat", Key: fyne.KeyF, Mod: shortcuts.Ctrl, Do: c.Page.Pane.Find},
		{Group: groupChats, Text: "Next question", Key: fyne.KeyJ, Mod: shortcuts.Ctrl, Do: func() {
			u.main.show()
			u.chats.Attention.NextQuestion()
		}},
		{Group: groupChats, Text: "Stop the run in progress", Key: fyne.KeyPeriod, Mod: shortcuts.Ctrl, Do: func() { c.Page.Pane.Stop() }},
		{Group: groupProgram, Text: "Settings", Key: fyne.KeyComma, Mod: shortcuts.Ctrl, Do: u.settings.open},
		{Group: groupProgram, Text: "Keyboard shortcuts", Key: fyne.KeySlash, Mod: shortcuts.Ctrl, Do: u.nav.openShortcuts},
		{Group: groupProgram, Text: "Close the window", Key: fyne.KeyW, Mod: shortcuts.Ctrl, Do: c.Window.Close},
		{Group: groupProgram, Text: "Quit", Key: fyne.KeyQ, Mod: shortcuts.Ctrl, Do: u.Quit},
	}...)
}

// openShortcuts shows all shortcuts in the main window.
func (n *navigator) openShortcuts() {
	var p *shortcuts.Page
	back := n.wayBack()
	n.open(page{"question", shortcuts.Title, func(context.Context, host.Target) (fyne.CanvasObject, func() bool) {
		p = shortcuts.New(keyGroups(), n.ui.main.bindings(), back)
		return p.Box, called(back)
	}})
	n.ui.main.show()
	n.ui.main.conversation.Window.Canvas().Focus(p.Filter)
}
