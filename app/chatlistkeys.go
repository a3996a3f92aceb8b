package app

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/chats"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// chatIndex returns the position of a row's chat among the chats of the list, or -1.
func (b *sidebar) chatIndex(i int) int {
	if i < 0 || b.rows[i].chat == nil {
		return -1
	}
	n := 0
	for _, r := range b.rows[:i] {
		if r.chat != nil {
			n++
		}
	}
	return n
}

// affected returns the chats that an action on a row applies to: the selected ones if it is one of
// them or has no chat, otherwise its own.
func (b *sidebar) affected(i int) (list []protocol.SessionEntry) {
	if i >= 0 && b.rows[i].chat != nil && !b.chosen.HasPath(b.rows[i].id) {
		return []protocol.SessionEntry{*b.rows[i].chat}
	}
	for _, r := range b.rows {
		if r.chat != nil && b.chosen.HasPath(r.id) {
			list = append(list, *r.chat)
		}
	}
	return list
}

// chatListKeys are those of [sidebar.typedKey] and [sidebar.typedShortcut].
var chatListKeys = []widgets.KeyText{
	{Keys: "Space", Text: "Select or deselect"},
	{Keys: widgets.ShortcutName("A", false), Text: "Select all"},
	{Keys: "F2", Text: "Rename"},
	{Keys: "Del", Text: "Delete"},
	{Keys: widgets.KeyName(keyDelete), Text: "Delete"},
	{Keys: widgets.ShortcutName("P", false), Text: "Pin or unpin"},
	{Keys: widgets.ShortcutName("U", false), Text: "Mark as read or unread"},
	{Keys: widgets.ShortcutName("E", false), Text: "Archive or restore"},
}

// typedKey handles a key in the list, with the cursor on a row.
func (b *sidebar) typedKey(i int, e *fyne.KeyEvent) {
	chats, list := b.ui.chats, b.affected(i)
	switch {
	case e.Name == fyne.KeyEscape && len(b.affected(-1)) > 0:
		b.chosen.None()
		b.list.Refresh()
	case e.Name == fyne.KeyEscape:
		widgets.PassKey(b.list, e)
	case len(list) == 0:
	case e.Name == fyne.KeySpace:
		b.chosen.Toggle(b.chatIndex(i))
		b.list.Refresh()
	case e.Name == fyne.KeyDelete || e.Name == fyne.KeyBackspace:
		chats.delete(list)
	case e.Name == fyne.KeyF2:
		chats.rename(list[0].SessionKey)
	case e.Name == desktop.KeyMenu || e.Name == fyne.KeyF10 && widgets.KeyModifiers()&fyne.KeyModifierShift != 0:
		b.openMenu(i, b.list.RowPosition(i))
	}
}

// typedShortcut handles a shortcut in the list, and reports whether it is one of the list's.
func (b *sidebar) typedShortcut(i int, s fyne.Shortcut) bool {
	if _, all := s.(*fyne.ShortcutSelectAll); all {
		b.chosen.All()
		b.list.Refresh()
		return true
	}
	list := b.affected(i)
	if len(list) == 0 {
		return false
	}
	for _, a := range b.ui.chats.menu(list) {
		if a.Shortcut != nil && s.ShortcutName() == a.Shortcut.ShortcutName() {
			widgets.Call(a.Action)
			return true
		}
	}
	return false
}

// openMenu opens the menu of a row's chat, or of all selected chats.
func (b *sidebar) openMenu(i int, at fyne.Position) {
	if list := b.affected(i); len(list) > 0 && b.rows[i].chat != nil {
		widgets.ShowMenuAt(b.list, at, b.ui.chats.menu(list))
	}
}

// listMenu returns the actions on the whole list.
func (b *sidebar) listMenu() []*fyne.MenuItem {
	u, v := b.ui, b.ui.view()
	ask := menuItem("Next question", "", keyNextQuestion, u.chats.nextQuestion)
	ask.Disabled = v.Needs() == 0
	next := menuItem("Next unread chat", "", keyNextUnread, func() { u.chats.openUnread(1) })
	last := menuItem("Previous unread chat", "", keyLastUnread, func() { u.chats.openUnread(-1) })
	read := menuItem("Mark all as read", "", nil, func() { u.chats.markRead(true, u.chats.unreadChats()...) })
	none := len(u.chats.unreadChats()) == 0
	next.Disabled, last.Disabled, read.Disabled = none, none, none
	items := []*fyne.MenuItem{
		menuItem("New chat", "", listKey(fyne.KeyN), u.chats.create),
		ask, next, last, read,
		menuItem("Select all", "", listKey(fyne.KeyA), func() {
			u.main.conversation.window.Canvas().Focus(b.list)
			b.chosen.All()
			b.list.Refresh()
		}),
		fyne.NewMenuItemSeparator(),
	}
	for _, t := range v.Sessions.List.Tags() {
		label := fmt.Sprintf("Tag “%s” (%d)", t.Name, t.Chats)
		items = append(items, menuItem(label, "", nil, func() { b.setFilter(chats.Filter{Tag: t.Name}) }))
	}
	label := fmt.Sprintf("Archived chats (%d)", v.Sessions.List.Archived())
	return append(items, menuItem(label, "", nil, func() { b.setFilter(chats.Filter{Archived: true}) }))
}
