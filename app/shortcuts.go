package app

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/chat"
	"fairlead/app/files"
	"fairlead/app/inbox"
	"fairlead/app/sidebar"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// binding is a key with its modifiers, and what it does. The windows register their keys
// from lists of bindings, and the sheet of shortcuts shows the same lists.
type binding struct {
	group, text string
	key         fyne.KeyName
	mod         modifier
	do          func()
}

// modifier are the keys that are held with a key.
type modifier int

const (
	ctrl modifier = iota // Command on macOS
	ctrlShift
	altShift
)

func (m modifier) keys() fyne.KeyModifier {
	switch m {
	case ctrlShift:
		return fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift
	case altShift:
		return fyne.KeyModifierAlt | fyne.KeyModifierShift
	}
	return fyne.KeyModifierShortcutDefault
}

func (b binding) shortcut() fyne.KeyboardShortcut {
	return &desktop.CustomShortcut{KeyName: b.key, Modifier: b.mod.keys()}
}

// name is the key as the sheet shows it, such as "Ctrl Shift F".
func (b binding) name() string { return widgets.KeyName(b.shortcut()) }

// register makes a window obey the bindings.
func register(w fyne.Window, list []binding) {
	for _, b := range list {
		var s fyne.Shortcut = b.shortcut()
		if b.key == fyne.KeyZ && b.mod == ctrl {
			s = &fyne.ShortcutUndo{} // the toolkit reports this key by its meaning
		}
		w.Canvas().AddShortcut(s, func(fyne.Shortcut) { b.do() })
	}
}

// Groups of the sheet of shortcuts.
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

// keysOfViews are the keys that views handle themselves, by group.
var keysOfViews = map[string][]widgets.KeyText{
	groupChatList:  sidebar.Keys,
	chat.KeysGroup: chat.Keys,
	groupInbox:     inbox.Keys,
	groupApprovals: {{Keys: widgets.ShortcutName("Enter", true), Text: "Allow"}, {Keys: "Esc", Text: "Deny"}},
	groupFiles:     files.Keys,
	groupOutput:    {{Keys: widgets.ShortcutName("F", false), Text: "Find"}},
}

// bindings are the keys of the main window.
func (w *window) bindings() []binding {
	u := w.ui
	return append(w.conversation.chatBindings(), []binding{
		{groupChats, "New chat", fyne.KeyN, ctrl, u.chats.Create},
		{groupProgram, "Find anything", fyne.KeyK, ctrl, u.nav.openPalette},
		{groupChats, "Search chats", fyne.KeyG, ctrl, w.focusSearch},
		{groupChats, "Find in this chat", fyne.KeyF, ctrl, w.findInChat},
		{groupChats, "Search all messages", fyne.KeyF, ctrlShift, func() { u.nav.search(w.sidebar.Search.Text) }},
		{groupChats, "Next question", fyne.KeyJ, ctrl, u.chats.nextQuestion},
		{groupChats, "Next unread chat", fyne.KeyDown, altShift, func() { u.chats.openUnread(1) }},
		{groupChats, "Previous unread chat", fyne.KeyUp, altShift, func() { u.chats.openUnread(-1) }},
		{groupChats, "Stop the run in progress", fyne.KeyPeriod, ctrl, func() { w.conversation.page.Pane.Stop() }},
		{groupProgram, "Needs you", fyne.KeyI, ctrl, u.questions.openPage},
		{groupProgram, "Settings", fyne.KeyComma, ctrl, u.settings.open},
		{groupProgram, "Keyboard shortcuts", fyne.KeySlash, ctrl, u.nav.openShortcuts},
		{groupProgram, "Close the window", fyne.KeyW, ctrl, w.closeByKey},
		{groupProgram, "Quit", fyne.KeyQ, ctrl, u.quit},
		{groupFiles, "Go to a folder", fyne.KeyL, ctrl, func() {
			if u.nav.files != nil {
				u.nav.files.EditPath()
			}
		}},
		{groupFiles, "Show or hide hidden files", fyne.KeyH, ctrl, func() {
			if u.nav.files != nil {
				u.nav.files.ToggleHidden()
			}
		}},
		{groupFiles, "Undo", fyne.KeyZ, ctrl, func() {
			if u.nav.files != nil {
				u.nav.files.Undo()
			}
		}},
		{groupSettings, "Next page", fyne.KeyPageDown, ctrl, u.settings.moveTab(1)},
		{groupSettings, "Previous page", fyne.KeyPageUp, ctrl, u.settings.moveTab(-1)},
		{groupSettings, "Next page", fyne.KeyTab, ctrl, u.settings.moveTab(1)},
		{groupSettings, "Previous page", fyne.KeyTab, ctrlShift, u.settings.moveTab(-1)},
	}...)
}

// chatBindings are the keys of the chat's menu.
func (c *chatFrame) chatBindings() []binding {
	do := func(key fyne.Shortcut) func() { return func() { c.obey(key) } }
	return []binding{
		{groupChats, "Pin or unpin", fyne.KeyP, ctrl, do(listKey(fyne.KeyP))},
		{groupChats, "Mark as read or unread", fyne.KeyU, ctrl, do(listKey(fyne.KeyU))},
		{groupChats, "Archive or restore", fyne.KeyE, ctrl, do(listKey(fyne.KeyE))},
		{groupChats, "Delete", fyne.KeyBackspace, ctrlShift, do(sidebar.KeyDelete)},
	}
}

// bindings are the keys of a chat in a window of its own.
func (c *chatFrame) bindings() []binding {
	u := c.ui
	return append(c.chatBindings(), []binding{
		{groupChats, "New chat", fyne.KeyN, ctrl, func() {
			u.chats.Create()
			u.main.show()
		}},
		{groupChats, "Find in this chat", fyne.KeyF, ctrl, c.page.Pane.Find},
		{groupChats, "Next question", fyne.KeyJ, ctrl, func() {
			u.main.show()
			u.chats.nextQuestion()
		}},
		{groupChats, "Stop the run in progress", fyne.KeyPeriod, ctrl, func() { c.page.Pane.Stop() }},
		{groupProgram, "Settings", fyne.KeyComma, ctrl, u.settings.open},
		{groupProgram, "Keyboard shortcuts", fyne.KeySlash, ctrl, u.nav.openShortcuts},
		{groupProgram, "Close the window", fyne.KeyW, ctrl, c.window.Close},
		{groupProgram, "Quit", fyne.KeyQ, ctrl, u.quit},
	}...)
}

const shortcutsTitle = "Keyboard shortcuts"

// openShortcuts shows all shortcuts in the main window.
func (n *navigator) openShortcuts() {
	var field *widgets.SearchField
	back := n.wayBack()
	n.open(page{"question", shortcutsTitle, func(context.Context) (fyne.CanvasObject, func() bool) {
		list := widgets.NewItemList(nil)
		list.Compact = true
		field = widgets.NewSearchField("Filter shortcuts", "")
		field.OnChanged = func(query string) { list.Set(n.shortcutLines(query)) }
		field.OnChanged("")
		body := widgets.Border(widgets.Inset(0, 0, style.Inside, 0, field), nil, nil, nil, list)
		return widgets.NewPage(shortcutsTitle, widgets.LimitWidth(720, true, body), widgets.NewQuietButton("Back", "back", back)), called(back)
	}})
	n.ui.main.show()
	n.ui.main.conversation.window.Canvas().Focus(field)
}

// shortcutLines lists the shortcuts that contain a text, by group.
func (n *navigator) shortcutLines(query string) (lines []widgets.ListItem) {
	all := n.ui.main.bindings()
	groups := []string{groupChats, groupChatList, chat.KeysGroup, groupInbox, groupApprovals, groupProgram, groupFiles, groupOutput, groupSettings}
	rows := map[string][]widgets.ListItem{}
	seen := map[string]bool{}
	add := func(group, text, keys string) {
		isFound := strings.Contains(strings.ToLower(group+" "+text+" "+keys), strings.ToLower(strings.TrimSpace(query)))
		isRepeated := seen[group+keys] || group == groupChatList && seen[groupChats+keys] // the windows share some
		if isFound && !isRepeated {
			seen[group+keys] = true
			rows[group] = append(rows[group], widgets.ListItem{Title: text, Detail: keys})
		}
	}
	for _, b := range all {
		add(b.group, b.text, b.name())
	}
	for group, keys := range keysOfViews {
		for _, k := range keys {
			add(group, k.Text, k.Keys)
		}
	}
	for _, g := range groups {
		if len(rows[g]) > 0 {
			lines = append(append(lines, widgets.ListItem{Title: g, Heading: true}), rows[g]...)
		}
	}
	return lines
}
