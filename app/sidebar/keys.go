package sidebar

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/chats"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// chatIndex returns the position of a row's chat among the chats of the list, or -1.
func (b *Sidebar) chatIndex(i int) int {
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

// affectedChats returns the chats that an action on a row applies to: the selected ones if it is
// one of them or has no chat, otherwise its own.
func (b *Sidebar) affectedChats(i int) (list []protocol.SessionEntry) {
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

// Shortcuts of actions on chats for which the list has more keys.
var (
	KeyRename = &desktop.CustomShortcut{KeyName: fyne.KeyF2}
	KeyDelete = &desktop.CustomShortcut{KeyName: fyne.KeyBackspace, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift}
)

var keySelectAll = &desktop.CustomShortcut{KeyName: fyne.KeyA, Modifier: fyne.KeyModifierShortcutDefault}

// Keys are those of [Sidebar.typedKey] and [Sidebar.typedShortcut].
var Keys = []widgets.KeyText{
	{Keys: "Space", Text: "Select or deselect"},
	{Keys: widgets.ShortcutName("A", false), Text: "Select all"},
	{Keys: "F2", Text: "Rename"},
	{Keys: "Del", Text: "Delete"},
	{Keys: widgets.KeyName(KeyDelete), Text: "Delete"},
	{Keys: widgets.ShortcutName("P", false), Text: "Pin or unpin"},
	{Keys: widgets.ShortcutName("U", false), Text: "Mark as read or unread"},
	{Keys: widgets.ShortcutName("E", false), Text: "Archive or restore"},
}

// typedKey handles a key in the list, with the cursor on a row.
func (b *Sidebar) typedKey(i int, e *fyne.KeyEvent) {
	list := b.affectedChats(i)
	switch {
	case e.Name == fyne.KeyEscape && len(b.affectedChats(-1)) > 0:
		b.chosen.None()
		b.List.Refresh()
	case e.Name == fyne.KeyEscape:
		widgets.PassKey(b.List, e)
	case len(list) == 0:
	case e.Name == fyne.KeySpace:
		b.chosen.Toggle(b.chatIndex(i))
		b.List.Refresh()
	case e.Name == fyne.KeyDelete || e.Name == fyne.KeyBackspace:
		b.act(list, KeyDelete)
	case e.Name == fyne.KeyF2:
		b.act(list[:1], KeyRename)
	case e.Name == desktop.KeyMenu || e.Name == fyne.KeyF10 && widgets.KeyModifiers()&fyne.KeyModifierShift != 0:
		b.openMenu(i, b.List.RowPosition(i))
	}
}

// act carries out the action on chats that has a shortcut, and reports whether there is one.
func (b *Sidebar) act(list []protocol.SessionEntry, s fyne.Shortcut) bool {
	for _, a := range b.o.Chats.Menu(list) {
		if a.Shortcut != nil && s.ShortcutName() == a.Shortcut.ShortcutName() {
			widgets.Call(a.Action)
			return true
		}
	}
	return false
}

// typedShortcut handles a shortcut in the list, and reports whether it is one of the list's.
func (b *Sidebar) typedShortcut(i int, s fyne.Shortcut) bool {
	if _, all := s.(*fyne.ShortcutSelectAll); all {
		b.chosen.All()
		b.List.Refresh()
		return true
	}
	list := b.affectedChats(i)
	return len(list) > 0 && b.act(list, s)
}

// openMenu opens the menu of a row's chat, or of all selected chats.
func (b *Sidebar) openMenu(i int, at fyne.Position) {
	if list := b.affectedChats(i); len(list) > 0 && b.rows[i].chat != nil {
		widgets.ShowMenuAt(b.List, at, b.o.Chats.Menu(list))
	}
}

// listMenu returns the actions on the whole list.
func (b *Sidebar) listMenu() []*fyne.MenuItem {
	all := fyne.NewMenuItem("Select all", func() {
		widgets.Focus(b.List)
		b.chosen.All()
		b.List.Refresh()
	})
	all.Shortcut = keySelectAll
	items := append(b.o.Chats.ListMenu(), all, fyne.NewMenuItemSeparator())
	list := b.e.Feed.Sessions.Get().List
	for _, t := range list.Tags() {
		label := fmt.Sprintf("Tag “%s” (%d)", t.Name, t.Chats)
		items = append(items, fyne.NewMenuItem(label, func() { b.setFilter(chats.Filter{Tag: t.Name}) }))
	}
	label := fmt.Sprintf("Archived chats (%d)", list.Archived())
	return append(items, fyne.NewMenuItem(label, func() { b.setFilter(chats.Filter{Archived: true}) }))
}
