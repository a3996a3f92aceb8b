package app

import (
	"context"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/chats"
	"fairlead/app/conversation"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/messages"
	"fairlead/app/sidebar"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/export"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Shortcuts of the main window for moving between chats.
var (
	keyNextQuestion = &desktop.CustomShortcut{KeyName: fyne.KeyJ, Modifier: fyne.KeyModifierShortcutDefault}
	keyNextUnread   = &desktop.CustomShortcut{KeyName: fyne.KeyDown, Modifier: fyne.KeyModifierAlt | fyne.KeyModifierShift}
	keyLastUnread   = &desktop.CustomShortcut{KeyName: fyne.KeyUp, Modifier: fyne.KeyModifierAlt | fyne.KeyModifierShift}
)

// menuItem creates a line of a menu; icon may be empty, and shortcut nil.
func menuItem(label, icon string, shortcut fyne.Shortcut, act func()) *fyne.MenuItem {
	item := fyne.NewMenuItem(label, act)
	item.Shortcut = shortcut
	if icon != "" {
		item.Icon = style.Icon(icon)
	}
	return item
}

// listKey is a shortcut with Ctrl (Command on macOS).
func listKey(key fyne.KeyName) fyne.Shortcut {
	return &desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}
}

// Menu returns the actions on one chat of the list, or on several together.
func (cw *chatWindows) Menu(list []protocol.SessionEntry) []*fyne.MenuItem {
	if len(list) == 1 {
		return cw.chatMenu(list[0], cw.ui.main.conversation)
	}
	items := append(cw.listActions(list, cw.ui.main.conversation.window), cw.tagItem(list, cw.ui.main.conversation.window), fyne.NewMenuItemSeparator())
	return append(items, menuItem("Delete "+format.Plural(len(list), "chat"), "trash", sidebar.KeyDelete, func() { cw.delete(list) }))
}

// ListMenu returns the actions on all chats.
func (cw *chatWindows) ListMenu() []*fyne.MenuItem {
	ask := menuItem("Next question", "", keyNextQuestion, cw.nextQuestion)
	ask.Disabled = cw.ui.view().Needs() == 0
	next := menuItem("Next unread chat", "", keyNextUnread, func() { cw.openUnread(1) })
	last := menuItem("Previous unread chat", "", keyLastUnread, func() { cw.openUnread(-1) })
	unread := cw.unreadChats()
	read := menuItem("Mark all as read", "", nil, func() { cw.markRead(true, unread...) })
	next.Disabled, last.Disabled, read.Disabled = len(unread) == 0, len(unread) == 0, len(unread) == 0
	return []*fyne.MenuItem{menuItem("New chat", "", listKey(fyne.KeyN), cw.Create), ask, next, last, read}
}

// chatMenu returns the actions on a chat: in the list, and in the conversation at, which shows it or
// is to show it.
func (cw *chatWindows) chatMenu(e protocol.SessionEntry, at *chatFrame) []*fyne.MenuItem {
	key, list := e.SessionKey, []protocol.SessionEntry{e}
	show := func(then func()) func() {
		return func() {
			if at == cw.ui.main.conversation {
				cw.ui.main.sidebar.Choose(key)
			}
			then()
		}
	}
	files := menuItem("Export", "export", nil, nil)
	files.ChildMenu = fyne.NewMenu("", conversation.ExportMenu(func(f export.Format) { cw.export(key, f, at.window) })...)
	items := []*fyne.MenuItem{
		menuItem("Open in new window", "window", nil, func() { cw.openWindow(key) }),
		menuItem("Rename", "edit", sidebar.KeyRename, show(at.page.Pane.Rename)), files,
	}
	if _, stored := cw.ui.view().Session(key); stored {
		items = append(append(items, cw.listActions(list, at.window)...), cw.tagItem(list, at.window))
	}
	return append(items,
		menuItem("Earlier conversations", "clock", nil, func() { cw.ui.nav.openArchives(key) }),
		menuItem("Find in this chat", "search", listKey(fyne.KeyF), show(at.page.Pane.Find)),
		menuItem("Keyboard shortcuts", "question", listKey(fyne.KeySlash), cw.ui.nav.openShortcuts),
		fyne.NewMenuItemSeparator(),
		menuItem("Start over", "reset", nil, func() { cw.ui.backend.Chats.Reset(key) }),
		menuItem("Delete chat", "trash", sidebar.KeyDelete, func() { cw.delete(list) }))
}

// countText names the number of several chats: " 3 chats".
func countText(list []protocol.SessionEntry) string {
	if len(list) == 1 {
		return ""
	}
	return " " + format.Plural(len(list), "chat")
}

// listActions returns the actions that have a shortcut in the list of chats, for a window.
func (cw *chatWindows) listActions(list []protocol.SessionEntry, w fyne.Window) []*fyne.MenuItem {
	if len(list) == 0 {
		return nil
	}
	every := func(f func(protocol.SessionEntry) bool) bool {
		return !slices.ContainsFunc(list, func(e protocol.SessionEntry) bool { return !f(e) })
	}
	chats, keys := cw.ui.backend.Chats, keysOf(list)
	pinned := every(func(e protocol.SessionEntry) bool { return e.Pinned })
	archived := every(func(e protocol.SessionEntry) bool { return e.Archived })
	read := every(func(e protocol.SessionEntry) bool { return !cw.ui.unread.Has(e) })
	n := countText(list)
	pin := menuItem(widgets.Choose(pinned, "Unpin", "Pin")+n, "pin", listKey(fyne.KeyP), func() { chats.Pin(!pinned, keys...) })
	pin.Disabled = archived
	label := widgets.Choose(read, "Mark as unread", "Mark as read")
	mark := menuItem(label, "eye", listKey(fyne.KeyU), func() { cw.markRead(!read, list...) })
	label = widgets.Choose(archived, "Restore to list", "Archive") + n
	return []*fyne.MenuItem{pin, mark, menuItem(label, "archive", listKey(fyne.KeyE), func() { cw.archive(!archived, list, w) })}
}

// obey carries out an action of the list on the chat of a conversation, if that is visible.
func (c *chatFrame) obey(key fyne.Shortcut) {
	if c == c.ui.main.conversation && !c.ui.main.showsChat(c.page.Key()) {
		return
	}
	for _, item := range c.ui.chats.chatMenu(c.page.Entry(), c) {
		if item.Shortcut != nil && item.Shortcut.ShortcutName() == key.ShortcutName() && !item.Disabled {
			item.Action()
		}
	}
}

func keysOf(list []protocol.SessionEntry) []protocol.SessionKey {
	return lists.Map(list, func(e protocol.SessionEntry) protocol.SessionKey { return e.SessionKey })
}

func (cw *chatWindows) tagItem(list []protocol.SessionEntry, w fyne.Window) *fyne.MenuItem {
	item := menuItem("Tags", "tag", nil, nil)
	item.ChildMenu = fyne.NewMenu("", cw.tagMenu(list, w)...)
	return item
}

// tagMenu returns all tags, with those of the chats checked, and an entry for a new one.
func (cw *chatWindows) tagMenu(list []protocol.SessionEntry, w fyne.Window) (items []*fyne.MenuItem) {
	chats := cw.ui.backend.Chats
	for _, t := range cw.ui.view().Sessions.List.Tags() {
		on := !slices.ContainsFunc(list, func(e protocol.SessionEntry) bool { return !slices.Contains(e.Tags, t.Name) })
		item := fyne.NewMenuItem(t.Name, func() { chats.Tag(t.Name, !on, keysOf(list)...) })
		item.Checked = on
		items = append(items, item)
	}
	return append(items, fyne.NewMenuItem("New tag…", func() {
		add := func(name string) { chats.Tag(name, true, keysOf(list)...) }
		widgets.AskText(w.Canvas(), "New tag", "Add tag", add)
	}))
}

// archive hides chats from the list, or lists them again, and offers to undo that.
func (cw *chatWindows) archive(archived bool, list []protocol.SessionEntry, w fyne.Window) {
	chats, keys := cw.ui.backend.Chats, keysOf(list)
	chats.Archive(archived, keys...)
	text := cw.nameOf(list) + widgets.Choose(archived, " archived.", " back in the list.")
	cw.at(w).messages.OfferUndoAt(messages.Everywhere, text, func() { chats.Archive(!archived, keys...) }, time.Now().Add(feed.UndoTime))
	if archived && slices.Contains(keys, cw.ui.main.conversation.page.Key()) {
		cw.openAnother(keys)
	}
}

// nameOf names one chat or the number of several, as the subject of a sentence.
func (cw *chatWindows) nameOf(list []protocol.SessionEntry) string {
	if len(list) == 1 {
		return "“" + format.Line(feed.TitleOf(list[0]), 48) + "” is"
	}
	return format.Plural(len(list), "chat") + " are"
}

// delete deletes chats and offers to undo that.
func (cw *chatWindows) delete(list []protocol.SessionEntry) {
	type result struct {
		keys  []protocol.SessionKey
		until time.Time
	}
	request(cw.ui, cw.ui.main.conversation.window, "", func(ctx context.Context) (result, error) {
		keys, until, err := cw.ui.backend.Chats.DeleteAll(ctx, keysOf(list))
		if err != nil {
			cw.ui.backend.Feed.Notify("error", "Not deleted: "+err.Error())
		}
		return result{keys, until}, nil
	}, func(r result) {
		if len(r.keys) == 0 {
			return
		}
		isKept := func(e protocol.SessionEntry) bool { return !slices.Contains(r.keys, e.SessionKey) }
		gone := slices.DeleteFunc(slices.Clone(list), isKept)
		shown := protocol.SessionKey("")
		for _, key := range r.keys {
			if c := cw.windows[key]; c != nil {
				c.window.Close()
			}
			if cw.ui.main.conversation.page.Key() == key {
				shown = key
			}
			cw.ui.drafts.Forget(key)
		}
		cw.ui.messages.OfferUndoAt(messages.Everywhere, deletedText(gone), func() { cw.restore(r.keys, shown) }, r.until)
		if shown != "" {
			cw.openAnother(r.keys)
		}
	})
}

// deletedText says which chats were deleted.
func deletedText(list []protocol.SessionEntry) string {
	if len(list) == 1 {
		return "“" + format.Line(feed.TitleOf(list[0]), 48) + "” was deleted."
	}
	return format.Plural(len(list), "chat") + " were deleted."
}

// restore restores deleted chats, and opens the one that was open before, if any.
func (cw *chatWindows) restore(keys []protocol.SessionKey, show protocol.SessionKey) {
	request(cw.ui, cw.ui.main.conversation.window, "Not everything could be restored: ", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, cw.ui.backend.Chats.RestoreAll(ctx, keys)
	}, func(struct{}) {
		if show != "" {
			cw.ui.main.open(show)
		}
	})
}

// markRead marks chats as read or unread.
func (cw *chatWindows) markRead(read bool, list ...protocol.SessionEntry) {
	cw.ui.unread.Mark(read, list...)
	cw.ui.main.updateSidebar()
}

// unreadChats returns the listed chats with something new, in the order of the list.
func (cw *chatWindows) unreadChats() (list []protocol.SessionEntry) {
	for _, g := range chats.Groups(cw.ui.view().Sessions.List, chats.Filter{}, time.Now()) {
		for _, e := range g.Chats {
			if cw.ui.unread.Has(*e) {
				list = append(list, *e)
			}
		}
	}
	return list
}

// openUnread opens the next unread chat below the present one in the list, or above it.
func (cw *chatWindows) openUnread(step int) {
	list := cw.unreadChats()
	if len(list) == 0 {
		cw.ui.messages.Show("No unread chats.")
		return
	}
	var order []protocol.SessionKey
	for _, g := range chats.Groups(cw.ui.view().Sessions.List, chats.Filter{}, time.Now()) {
		for _, e := range g.Chats {
			order = append(order, e.SessionKey)
		}
	}
	shown := slices.Index(order, cw.ui.main.conversation.page.Key())
	if shown < 0 && step < 0 {
		shown = len(order)
	}
	for range order {
		shown = (shown + step + len(order)) % len(order)
		if slices.ContainsFunc(list, func(e protocol.SessionEntry) bool { return e.SessionKey == order[shown] }) {
			break
		}
	}
	cw.ui.main.sidebar.Choose(order[shown])
}

// nextQuestion opens the next chat that waits for the person, at its question. Without one, it lists
// what else needs the person, such as a device that wants to pair.
func (cw *chatWindows) nextQuestion() {
	q, ok := cw.ui.view().NextQuestion(cw.ui.main.conversation.page.Key())
	switch {
	case !ok && cw.ui.view().Needs() > 0:
		cw.ui.questions.openPage()
		return
	case !ok:
		cw.ui.messages.Show("Nothing needs you.")
		return
	case q.SessionKey == "":
		cw.ui.questions.review(q.ID)
		return
	}
	cw.ui.main.sidebar.Choose(q.SessionKey)
	cw.ui.main.conversation.page.Pane.ScrollToEnd()
}
