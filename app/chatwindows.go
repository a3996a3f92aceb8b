package app

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// chatWindows manages the windows of single chats, and carries out the actions on chats.
type chatWindows struct {
	ui      *ui
	windows map[protocol.SessionKey]*conversation
}

func (cw *chatWindows) create() {
	request(cw.ui, cw.ui.main.window, "The chat could not be created: ", cw.ui.backend.state.Chats.Create, cw.ui.main.open)
	cw.ui.main.endFirstRun()
	cw.ui.main.closeDrawer()
}

// export saves a chat as Markdown to a file that the person chooses.
func (cw *chatWindows) export(key protocol.SessionKey, window fyne.Window) {
	request(cw.ui, window, "", func(ctx context.Context) ([2]string, error) {
		title, text, err := cw.ui.backend.state.Chats.Export(ctx, key)
		return [2]string{title, text}, err
	}, func(r [2]string) { cw.ui.opener.saveAs(window, r[0], r[1]) })
}

// delete deletes a chat and offers to undo that.
func (cw *chatWindows) delete(key protocol.SessionKey) {
	e, _ := cw.ui.view.Session(key)
	title := state.TitleOf(e)
	request(cw.ui, cw.ui.main.window, "The chat was not deleted: ", func(ctx context.Context) (time.Time, error) {
		return cw.ui.backend.state.Chats.Delete(ctx, key)
	}, func(until time.Time) {
		if c := cw.windows[key]; c != nil {
			c.window.Close()
		}
		shown := cw.ui.main.key == key
		cw.ui.messages.offerUndo(deletedText(title), func() { cw.restore(key, shown) }, until)
		if shown {
			cw.openAnother(key)
		}
		cw.ui.drafts.saveText(key, "")
	})
}

// deletedText shows which chat was deleted.
func deletedText(title string) string { return "“" + display.Line(title, 48) + "” was deleted." }

// openAnother opens the chat with the newest activity other than the given one, or the main chat.
func (cw *chatWindows) openAnother(but protocol.SessionKey) {
	for _, e := range cw.ui.view.Sessions {
		if e.SessionKey != but {
			cw.ui.main.open(e.SessionKey)
			return
		}
	}
	cw.ui.main.open(cw.ui.main.mainChat())
}

// restore restores a deleted chat, and opens it if it was open before.
func (cw *chatWindows) restore(key protocol.SessionKey, show bool) {
	request(cw.ui, cw.ui.main.window, "The chat could not be restored: ", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, cw.ui.backend.state.Chats.Restore(ctx, key)
	}, func(struct{}) {
		if show {
			cw.ui.main.open(key)
		}
	})
}

func (cw *chatWindows) menu(e protocol.SessionEntry, at fyne.Position) {
	widgets.ShowMenuAt(cw.ui.main.sidebar.rows, at, []*fyne.MenuItem{
		fyne.NewMenuItem("Open", func() { cw.ui.main.open(e.SessionKey) }),
		fyne.NewMenuItem("Open in new window", func() { cw.openWindow(e.SessionKey) }),
		fyne.NewMenuItem("Rename", func() { cw.ui.main.open(e.SessionKey); cw.ui.main.pane.Rename() }),
		fyne.NewMenuItem("Export as Markdown…", func() { cw.export(e.SessionKey, cw.ui.main.window) }),
		fyne.NewMenuItemSeparator(),
		fyne.NewMenuItem("Delete", func() { cw.delete(e.SessionKey) }),
	})
}

// release drops a chat's messages when no window shows it any more.
func (cw *chatWindows) release(key protocol.SessionKey) {
	if cw.ui.main.conversation.key != key && cw.windows[key] == nil {
		cw.ui.backend.state.Chats.Close(key)
	}
}

func (cw *chatWindows) openWindow(key protocol.SessionKey) {
	if c := cw.windows[key]; c != nil {
		c.window.Show()
		c.window.RequestFocus()
		return
	}
	w := cw.ui.app.NewWindow("Fairlead")
	w.SetPadded(false)
	c := newConversation(cw.ui, w)
	cw.windows[key] = c
	c.toast = widgets.NewToast()
	c.foot = container.New(&toastLayout{c.pane}, c.toast)
	w.SetContent(container.NewStack(c.pane, c.foot))
	last := cw.ui.backend.prefs.get()
	w.Resize(sizeOr(last.ChatWidth, last.ChatHeight, fyne.NewSize(760, 700)))
	w.SetOnClosed(func() { cw.windowClosed(c) })
	register(w, c.bindings())
	w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyEscape {
			c.focusComposer()
		}
	})
	if cw.ui.main.key == key { // move the draft along
		cw.ui.main.saveDraft()
		cw.ui.main.setDraft(draft{})
	}
	c.load(key)
	w.Show()
	c.focusComposer()
}

// windowClosed releases the resources of a closed window.
func (cw *chatWindows) windowClosed(c *conversation) {
	c.saveDraft()
	c.saveSize()
	c.stop()
	delete(cw.windows, c.key)
	if cw.ui.main.key == c.key && cw.ui.main.pane.Draft() == "" {
		cw.ui.main.setDraft(cw.ui.drafts.byChat[c.key])
	}
	cw.release(c.key)
}
