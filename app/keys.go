package app

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// shortcut registers a window shortcut with Ctrl (Command on macOS).
func shortcut(w fyne.Window, key fyne.KeyName, f func()) {
	w.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}, func(fyne.Shortcut) { f() })
}

// addShortcuts registers the window's shortcuts.
func (w *window) addShortcuts() {
	shortcut(w.window, fyne.KeyN, w.ui.chats.create)
	shortcut(w.window, fyne.KeyK, w.focusSearch)
	shortcut(w.window, fyne.KeyI, w.ui.approvals.openInbox)
	shortcut(w.window, fyne.KeyL, func() {
		if w.ui.nav.files != nil {
			w.ui.nav.files.EditPath()
		}
	})
	shortcut(w.window, fyne.KeyF, w.findInChat)
	w.window.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift}, func(fyne.Shortcut) {
		w.ui.nav.search(w.sidebar.search.Text)
	})
	shortcut(w.window, fyne.KeyComma, w.ui.settings.open)
	shortcut(w.window, fyne.KeyW, w.closeByKey)
	shortcut(w.window, fyne.KeyQ, w.ui.quit)
	shortcut(w.window, fyne.KeyPeriod, func() { w.pane.Stop() })
	w.window.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyF3 && w.ui.nav.files != nil {
			w.ui.nav.files.Toggle()
		}
		if e.Name == fyne.KeyEscape && !dismiss(w.window.Canvas()) {
			if w.drawer.Visible() {
				w.toggleDrawer()
				return
			}
			if w.ui.nav.back == nil || !w.ui.nav.back() {
				w.restoreFocus()
			}
		}
	})
}

// closeByKey closes the top overlay, or else the window.
func (w *window) closeByKey() {
	if !dismiss(w.window.Canvas()) {
		w.close()
	}
}

// dismiss closes the top overlay of a window, such as Fyne's file dialog, which does not react to
// Escape. It reports whether there was one.
func dismiss(c fyne.Canvas) bool {
	top := c.Overlays().Top()
	if top == nil {
		return false
	}
	top.Hide()
	c.Overlays().Remove(top)
	return true
}

// restoreFocus focuses the composer, or clears the focus if a page is shown instead of the chat.
func (w *window) restoreFocus() {
	if w.ui.nav.title != "" {
		w.window.Canvas().Unfocus()
		return
	}
	w.focusComposer()
}

func (w *window) focusSearch() {
	if w.narrow && !w.drawer.Visible() {
		w.toggleDrawer()
	}
	w.window.Canvas().Focus(w.sidebar.search)
}

// findInChat searches in the chat that is shown, or in all chats if a page is shown instead.
func (w *window) findInChat() {
	if w.ui.nav.title != "" || w.firstRun {
		w.ui.nav.search(w.sidebar.search.Text)
		return
	}
	w.pane.Find()
}
