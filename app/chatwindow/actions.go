package chatwindow

import (
	"cmp"
	"context"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/bind"
	"fairlead/app/chat"
	"fairlead/app/conversation"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/lists"
	"fairlead/app/messages"
	"fairlead/app/shortcuts"
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

// Actions carry out what the person chooses for chats in menus, and by keys. It belongs to the GUI
// thread.
type Actions struct {
	windows *Windows
	ctx     context.Context
	o       Options
}

// Create opens a new chat.
func (a *Actions) Create() { a.o.Main.Create() }

// menuItem creates a line of a menu; icon may be empty, and shortcut nil.
func menuItem(label, icon string, shortcut fyne.Shortcut, act func()) *fyne.MenuItem {
	item := fyne.NewMenuItem(label, act)
	item.Shortcut = shortcut
	if icon != "" {
		item.Icon = style.Icon(icon)
	}
	return item
}

// ListKey is a shortcut with Ctrl (Command on macOS).
func ListKey(key fyne.KeyName) fyne.Shortcut {
	return &desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}
}

// Menu returns the actions on one chat of the list, or on several together.
func (a *Actions) Menu(list []protocol.SessionEntry) []*fyne.MenuItem {
	if len(list) == 1 {
		return a.ChatMenu(list[0], a.o.Main.Frame())
	}
	items := append(a.listActions(list, a.o.Main.Frame().Window), a.tagItem(list, a.o.Main.Frame().Window), fyne.NewMenuItemSeparator())
	return append(items, menuItem("Delete "+format.Plural(len(list), "chat"), "trash", sidebar.KeyDelete, func() { a.delete(list) }))
}

// ListMenu returns the actions on all chats.
func (a *Actions) ListMenu() []*fyne.MenuItem {
	ask := menuItem("Next question", "", keyNextQuestion, a.windows.Attention.NextQuestion)
	ask.Disabled = a.o.Feed.View().Needs() == 0
	next := menuItem("Next unread chat", "", keyNextUnread, func() { a.windows.Attention.OpenUnread(1) })
	last := menuItem("Previous unread chat", "", keyLastUnread, func() { a.windows.Attention.OpenUnread(-1) })
	unread := a.windows.Attention.unreadChats()
	read := menuItem("Mark all as read", "", nil, func() { a.windows.Attention.MarkRead(true, unread...) })
	next.Disabled, last.Disabled, read.Disabled = len(unread) == 0, len(unread) == 0, len(unread) == 0
	return []*fyne.MenuItem{menuItem("New chat", "", ListKey(fyne.KeyN), a.o.Main.Create), ask, next, last, read}
}

// ChatMenu returns the actions on a chat: in the list, and in the conversation at, which shows it or
// is to show it.
func (a *Actions) ChatMenu(e protocol.SessionEntry, at *Frame) []*fyne.MenuItem {
	key, list := e.SessionKey, []protocol.SessionEntry{e}
	show := func(then func()) func() {
		return func() {
			if at == a.o.Main.Frame() {
				a.o.Main.Choose(key)
			}
			then()
		}
	}
	files := menuItem("Export", "export", nil, nil)
	files.ChildMenu = fyne.NewMenu("", conversation.ExportMenu(func(f export.Format) { a.export(key, f, at.Window) })...)
	items := []*fyne.MenuItem{
		menuItem("Open in new window", "window", nil, func() { a.windows.OpenWindow(key) }),
		menuItem("Rename", "edit", sidebar.KeyRename, show(at.Page.Pane.Rename)), files,
	}
	if _, stored := a.o.Feed.View().Session(key); stored {
		items = append(append(items, a.listActions(list, at.Window)...), a.tagItem(list, at.Window))
	}
	return append(items,
		menuItem("Earlier conversations", "clock", nil, func() { a.o.Env(nil).Open(host.Archive{Key: key}) }),
		menuItem("Find in this chat", "search", ListKey(fyne.KeyF), show(at.Page.Pane.Find)),
		menuItem("Keyboard shortcuts", "question", ListKey(fyne.KeySlash), func() { a.o.Env(nil).Open(host.Page(shortcuts.Title)) }),
		fyne.NewMenuItemSeparator(),
		menuItem("Start over", "reset", nil, func() { a.o.Env(nil).Chats.Reset(key) }),
		menuItem("Delete chat", "trash", sidebar.KeyDelete, func() { a.delete(list) }))
}

// countText names the number of several chats: " 3 chats".
func countText(list []protocol.SessionEntry) string {
	if len(list) == 1 {
		return ""
	}
	return " " + format.Plural(len(list), "chat")
}

// listActions returns the actions that have a shortcut in the list of chats, for a window.
func (a *Actions) listActions(list []protocol.SessionEntry, w fyne.Window) []*fyne.MenuItem {
	if len(list) == 0 {
		return nil
	}
	every := func(f func(protocol.SessionEntry) bool) bool {
		return !slices.ContainsFunc(list, func(e protocol.SessionEntry) bool { return !f(e) })
	}
	chats, keys := a.o.Env(nil).Chats, keysOf(list)
	pinned := every(func(e protocol.SessionEntry) bool { return e.Pinned })
	archived := every(func(e protocol.SessionEntry) bool { return e.Archived })
	read := every(func(e protocol.SessionEntry) bool { return !a.o.Unread.Has(e) })
	n := countText(list)
	pin := menuItem(widgets.Choose(pinned, "Unpin", "Pin")+n, "pin", ListKey(fyne.KeyP), func() { chats.Pin(!pinned, keys...) })
	pin.Disabled = archived
	label := widgets.Choose(read, "Mark as unread", "Mark as read")
	mark := menuItem(label, "eye", ListKey(fyne.KeyU), func() { a.windows.Attention.MarkRead(!read, list...) })
	label = widgets.Choose(archived, "Restore"+n+" to list", "Archive"+n)
	return []*fyne.MenuItem{pin, mark, menuItem(label, "archive", ListKey(fyne.KeyE), func() { a.Archive(!archived, list, w) })}
}

// Obey carries out an action of the list on the chat of a frame, if that is visible.
func (a *Actions) Obey(c *Frame, key fyne.Shortcut) {
	if !c.IsVisible() {
		return
	}
	for _, item := range a.ChatMenu(c.Page.Entry(), c) {
		if item.Shortcut != nil && item.Shortcut.ShortcutName() == key.ShortcutName() && !item.Disabled {
			item.Action()
		}
	}
}

func keysOf(list []protocol.SessionEntry) []protocol.SessionKey {
	return lists.Map(list, func(e protocol.SessionEntry) protocol.SessionKey { return e.SessionKey })
}

func (a *Actions) tagItem(list []protocol.SessionEntry, w fyne.Window) *fyne.MenuItem {
	item := menuItem("Tags", "tag", nil, nil)
	item.ChildMenu = fyne.NewMenu("", a.tagMenu(list, w)...)
	return item
}

// tagMenu returns all tags, with those of the chats checked, and an entry for a new one.
func (a *Actions) tagMenu(list []protocol.SessionEntry, w fyne.Window) (items []*fyne.MenuItem) {
	chats := a.o.Env(nil).Chats
	for _, t := range a.o.Feed.View().Sessions.List.Tags() {
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

// Archive hides chats from the list, or lists them again, and offers to undo that.
func (a *Actions) Archive(archived bool, list []protocol.SessionEntry, w fyne.Window) {
	chats, keys := a.o.Env(nil).Chats, keysOf(list)
	chats.Archive(archived, keys...)
	text := subject(list, "is", "are") + widgets.Choose(archived, " archived.", " back in the list.")
	a.windows.At(w).Messages.OfferUndoAt(messages.Everywhere, text, func() { chats.Archive(!archived, keys...) }, time.Now().Add(feed.UndoTime))
	if archived && slices.Contains(keys, a.o.Main.Frame().Page.Key()) {
		a.openAnother(keys)
	}
}

// subject is one chat or the number of several, with the verb of a sentence about them.
func subject(list []protocol.SessionEntry, is, are string) string {
	if len(list) == 1 {
		return "“" + format.Line(feed.TitleOf(list[0]), 48) + "” " + is
	}
	return format.Plural(len(list), "chat") + " " + are
}

// delete deletes chats and offers to undo that.
func (a *Actions) delete(list []protocol.SessionEntry) {
	type result struct {
		keys  []protocol.SessionKey
		until time.Time
	}
	request(a, "", func(ctx context.Context) (result, error) {
		keys, until, err := a.o.Env(nil).Chats.DeleteAll(ctx, keysOf(list))
		if err != nil {
			a.o.Feed.Notify("error", "Not deleted: "+err.Error())
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
			if c := a.windows.Own[key]; c != nil {
				c.Window.Close()
			}
			if a.o.Main.Frame().Page.Key() == key {
				shown = key
			}
			a.o.Drafts.Forget(key)
		}
		a.o.Main.Frame().Messages.OfferUndoAt(messages.Everywhere, deletedText(gone), func() { a.restore(r.keys, shown) }, r.until)
		if shown != "" {
			a.openAnother(r.keys)
		}
	})
}

// deletedText says which chats were deleted.
func deletedText(list []protocol.SessionEntry) string {
	return subject(list, "was", "were") + " deleted."
}

// restore restores deleted chats, and opens the one that was open before, if any.
func (a *Actions) restore(keys []protocol.SessionKey, show protocol.SessionKey) {
	request(a, "Not everything could be restored: ", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, a.o.Env(nil).Chats.RestoreAll(ctx, keys)
	}, func(struct{}) {
		if show != "" {
			a.open(show)
		}
	})
}

// request runs work off the GUI thread, then done on it; the main window says what failed.
func request[R any](a *Actions, failed string, work func(context.Context) (R, error), done func(R)) {
	bind.Go(a.ctx, work, func(r R, err error) {
		if err != nil {
			a.o.Main.Frame().Messages.Show(failed + err.Error())
			return
		}
		done(r)
	})
}

// export saves a chat to a file that the person chooses.
func (a *Actions) export(key protocol.SessionKey, f export.Format, window fyne.Window) {
	e := a.o.Env(window)
	e.Open(chat.ExportFile(e, key, f))
}

// openAnother opens the listed chat with the newest activity other than the given ones, or the main
// chat.
func (a *Actions) openAnother(but []protocol.SessionKey) {
	for _, e := range a.o.Feed.View().Sessions.List {
		if !e.Archived && !slices.Contains(but, e.SessionKey) {
			a.open(e.SessionKey)
			return
		}
	}
	a.open(cmp.Or(a.o.Feed.View().Status.MainSession, protocol.MainSession))
}

// open opens a chat in the main window.
func (a *Actions) open(key protocol.SessionKey) { a.o.Env(nil).Open(host.Chat{Key: key}) }
