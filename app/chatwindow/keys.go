package chatwindow

import (
	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/shortcuts"
	"fairlead/app/sidebar"
)

// Keys are the keys of a chat's menu, for the window of the chat.
func (a *Actions) Keys(c *Frame) []shortcuts.Binding {
	do := func(key fyne.Shortcut) func() { return func() { a.Obey(c, key) } }
	return []shortcuts.Binding{
		{Group: shortcuts.Chats, Text: "Pin or unpin", Key: fyne.KeyP, Mod: shortcuts.Ctrl, Do: do(ListKey(fyne.KeyP))},
		{Group: shortcuts.Chats, Text: "Mark as read or unread", Key: fyne.KeyU, Mod: shortcuts.Ctrl, Do: do(ListKey(fyne.KeyU))},
		{Group: shortcuts.Chats, Text: "Archive or restore", Key: fyne.KeyE, Mod: shortcuts.Ctrl, Do: do(ListKey(fyne.KeyE))},
		{Group: shortcuts.Chats, Text: "Delete", Key: fyne.KeyBackspace, Mod: shortcuts.CtrlShift, Do: do(sidebar.KeyDelete)},
	}
}

// OwnKeys are the keys of a chat in a window of its own.
func (cw *Windows) OwnKeys(c *Frame) []shortcuts.Binding {
	open := func(to host.Target) func() { return func() { cw.o.Env(nil).Open(to) } }
	return append(cw.Actions.Keys(c), []shortcuts.Binding{
		{Group: shortcuts.Chats, Text: "New chat", Key: fyne.KeyN, Mod: shortcuts.Ctrl, Do: func() {
			cw.o.Main.Create()
			cw.o.Main.Show()
		}},
		{Group: shortcuts.Chats, Text: "Find in this chat", Key: fyne.KeyF, Mod: shortcuts.Ctrl, Do: c.Page.Pane.Find},
		{Group: shortcuts.Chats, Text: "Next question", Key: fyne.KeyJ, Mod: shortcuts.Ctrl, Do: func() {
			cw.o.Main.Show()
			cw.Attention.NextQuestion()
		}},
		{Group: shortcuts.Chats, Text: "Stop the run in progress", Key: fyne.KeyPeriod, Mod: shortcuts.Ctrl, Do: func() { c.Page.Pane.Stop() }},
		{Group: shortcuts.Program, Text: "Settings", Key: fyne.KeyComma, Mod: shortcuts.Ctrl, Do: open(host.Settings)},
		{Group: shortcuts.Program, Text: shortcuts.Title, Key: fyne.KeySlash, Mod: shortcuts.Ctrl, Do: open(host.Page(shortcuts.Title))},
		{Group: shortcuts.Program, Text: "Close the window", Key: fyne.KeyW, Mod: shortcuts.Ctrl, Do: c.Window.Close},
		{Group: shortcuts.Program, Text: "Quit", Key: fyne.KeyQ, Mod: shortcuts.Ctrl, Do: cw.o.Quit},
	}...)
}
