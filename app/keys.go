package app

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// shortcut adds a key of a window, pressed with Ctrl (on macOS with Command).
func shortcut(w fyne.Window, key fyne.KeyName, f func()) {
	w.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}, func(fyne.Shortcut) { f() })
}

// shortcuts are the window's keys.
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

// closeByKey closes what lies over the window, else the window.
func (s *shell) closeByKey() {
	if !dismiss(s.window.Canvas()) {
		s.closeWindow()
	}
}

// dismiss closes what lies over a window, such as the toolkit's dialog of files, which takes no key for that. It reports whether there was anything.
func dismiss(c fyne.Canvas) bool {
	top := c.Overlays().Top()
	if top == nil {
		return false
	}
	top.Hide()
	c.Overlays().Remove(top)
	return true
}

// focusBack gives the keyboard to the composer, or to nothing while a page is shown in place of the chat.
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

// findInChat looks in the chat that is shown; where a page is shown instead, in every chat.
func (s *shell) findInChat() {
	if s.pageTitle != "" || s.firstRun {
		s.searchFor(s.sidebar.search.Text)
		return
	}
	s.pane.Find()
}
