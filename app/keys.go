package app

import (
	"fyne.io/fyne/v2"

	"fairlead/app/chat"
	"fairlead/app/files"
	"fairlead/app/host"
	"fairlead/app/inbox"
	"fairlead/app/settings"
	"fairlead/app/shortcuts"
	"fairlead/app/sidebar"
	"fairlead/app/widgets"
	"fairlead/app/window"
)

// Groups of the page of shortcuts.
const (
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
		{Name: shortcuts.Chats},
		{Name: groupChatList, Keys: sidebar.Keys, Of: shortcuts.Chats},
		{Name: chat.KeysGroup, Keys: chat.Keys},
		{Name: groupInbox, Keys: inbox.Keys},
		{Name: groupApprovals, Keys: []widgets.KeyText{{Keys: widgets.ShortcutName("Enter", true), Text: "Allow"}, {Keys: "Esc", Text: "Deny"}}},
		{Name: shortcuts.Program},
		{Name: groupFiles, Keys: files.Keys},
		{Name: groupOutput, Keys: []widgets.KeyText{{Keys: widgets.ShortcutName("F", false), Text: "Find"}}},
		{Name: groupSettings},
	}
}

// mainKeys are the keys of the main window.
func mainKeys(w *window.Window, h host.Host, quit func()) []shortcuts.Binding {
	open := func(to host.Target) func() { return func() { h.Open(to) } }
	attention := w.Chats.Attention
	nextPage, lastPage := onPage(w, func(p *settings.Page) { p.MoveTab(1) }), onPage(w, func(p *settings.Page) { p.MoveTab(-1) })
	return append(w.Chats.Actions.Keys(w.Chat), []shortcuts.Binding{
		{Group: shortcuts.Chats, Text: "New chat", Key: fyne.KeyN, Mod: shortcuts.Ctrl, Do: w.Chats.Actions.Create},
		{Group: shortcuts.Program, Text: "Find anything", Key: fyne.KeyK, Mod: shortcuts.Ctrl, Do: open(host.Palette{})},
		{Group: shortcuts.Chats, Text: "Search chats", Key: fyne.KeyG, Mod: shortcuts.Ctrl, Do: w.FocusSearch},
		{Group: shortcuts.Chats, Text: "Find in this chat", Key: fyne.KeyF, Mod: shortcuts.Ctrl, Do: w.FindInChat},
		{Group: shortcuts.Chats, Text: "Search all messages", Key: fyne.KeyF, Mod: shortcuts.CtrlShift, Do: w.SearchMessages},
		{Group: shortcuts.Chats, Text: "Next question", Key: fyne.KeyJ, Mod: shortcuts.Ctrl, Do: attention.NextQuestion},
		{Group: shortcuts.Chats, Text: "Next unread chat", Key: fyne.KeyDown, Mod: shortcuts.AltShift, Do: func() { attention.OpenUnread(1) }},
		{Group: shortcuts.Chats, Text: "Previous unread chat", Key: fyne.KeyUp, Mod: shortcuts.AltShift, Do: func() { attention.OpenUnread(-1) }},
		{Group: shortcuts.Chats, Text: "Stop the run in progress", Key: fyne.KeyPeriod, Mod: shortcuts.Ctrl, Do: func() { w.Chat.Page.Pane.Stop() }},
		{Group: shortcuts.Program, Text: "Needs you", Key: fyne.KeyI, Mod: shortcuts.Ctrl, Do: open(host.Question(""))},
		{Group: shortcuts.Program, Text: "Settings", Key: fyne.KeyComma, Mod: shortcuts.Ctrl, Do: open(host.Settings)},
		{Group: shortcuts.Program, Text: shortcuts.Title, Key: fyne.KeySlash, Mod: shortcuts.Ctrl, Do: open(host.Page(shortcuts.Title))},
		{Group: shortcuts.Program, Text: "Close the window", Key: fyne.KeyW, Mod: shortcuts.Ctrl, Do: w.CloseTop},
		{Group: shortcuts.Program, Text: "Quit", Key: fyne.KeyQ, Mod: shortcuts.Ctrl, Do: quit},
		{Group: groupFiles, Text: "Go to a folder", Key: fyne.KeyL, Mod: shortcuts.Ctrl, Do: onPage(w, (*files.Pair).EditPath)},
		{Group: groupFiles, Text: "Show or hide hidden files", Key: fyne.KeyH, Mod: shortcuts.Ctrl, Do: onPage(w, (*files.Pair).ToggleHidden)},
		{Group: groupFiles, Text: "Undo", Key: fyne.KeyZ, Mod: shortcuts.Ctrl, Do: onPage(w, func(p *files.Pair) {
			if !w.Chat.Messages.UndoLast() {
				p.Undo()
			}
		})},
		{Group: groupSettings, Text: "Next page", Key: fyne.KeyPageDown, Mod: shortcuts.Ctrl, Do: nextPage},
		{Group: groupSettings, Text: "Previous page", Key: fyne.KeyPageUp, Mod: shortcuts.Ctrl, Do: lastPage},
		{Group: groupSettings, Text: "Next page", Key: fyne.KeyTab, Mod: shortcuts.Ctrl, Do: nextPage},
		{Group: groupSettings, Text: "Previous page", Key: fyne.KeyTab, Mod: shortcuts.CtrlShift, Do: lastPage},
	}...)
}

// onPage returns a function that acts on the page of a kind, if that is open.
func onPage[P host.View](w *window.Window, act func(P)) func() {
	return func() {
		if p, ok := w.Pages.Page().(P); ok {
			act(p)
		}
	}
}
