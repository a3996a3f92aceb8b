package app

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// shortcut registers a window shortcut with Ctrl (Command on macOS).
func shortcut(w fyne.Window, key fyne.KeyName, f func()) {
	w.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}, func(fyne.Shortcut) { f() })
}

// shortcuts registers the window's shortcuts.
func (s *shell) shortcuts() {
	shortcut(s.window, fyne.KeyN, s.newChat)
	shortcut(s.window, fyne.KeyK, s.focusSearch)
	shortcut(s.window, fyne.KeyI, s.openInbox)
	shortcut(s.window, fyne.KeyL, func() {
		if s.files != nil {
			s.files.WritePath()
		}
	})
	shortcut(s.window, fyne.KeyF, s.findInChat)
	s.window.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift}, func(fyne.Shortcut) {
		s.searchFor(s.sidebar.search.Text)
	})
	shortcut(s.window, fyne.KeyComma, s.openSettings)
	shortcut(s.window, fyne.KeyW, s.closeByKey)
	shortcut(s.window, fyne.KeyQ, s.quit)
	shortcut(s.window, fyne.KeyPeriod, func() { s.pane.Stop() })
	s.window.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyF3 && s.files != nil {
			s.files.Toggle()
		}
		if e.Name == fyne.KeyEscape && !dismiss(s.window.Canvas()) {
			if s.drawer.Visible() {
				s.toggleDrawer()
				return
			}
			if s.pageBack == nil || !s.pageBack() {
				s.focusBack()
			}
		}
	})
}

// closeByKey closes the top overlay, or else the window.
func (s *shell) closeByKey() {
	if !dismiss(s.window.Canvas()) {
		s.closeWindow()
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

// focusBack focuses the composer, or clears the focus if a page is shown instead of the chat.
func (s *shell) focusBack() {
	if s.pageTitle != "" {
		s.window.Canvas().Unfocus()
		return
	}
	s.focusComposer()
}

func (s *shell) focusSearch() {
	if s.narrow && !s.drawer.Visible() {
		s.toggleDrawer()
	}
	s.window.Canvas().Focus(s.sidebar.search)
}

// findInChat searches in the chat that is shown, or in all chats if a page is shown instead.
func (s *shell) findInChat() {
	if s.pageTitle != "" || s.firstRun {
		s.searchFor(s.sidebar.search.Text)
		return
	}
	s.pane.Find()
}
