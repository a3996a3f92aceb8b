package app

import (
	"fyne.io/fyne/v2"

	"fairlead/app/memory"
	"fairlead/app/style"
)

// Sizes of the main window.
var (
	defaultSize = fyne.NewSize(1120, 760)
)

// sidebarWidth is the width of the sidebar. It grows with the text size, so that names are not cut
// off.
func sidebarWidth() float32 {
	const normal, most = 240, 360
	return min(max(normal, normal*style.Size("text")/14), most)
}

// show brings the window to the front.
func (s *shell) show() {
	s.visible = true
	s.window.Show()
	s.window.RequestFocus()
	if s.view.Loaded {
		s.unread.look(s.view, s.eyes)
		s.sidebar.show(s.view, s.key)
	}
}

// closeWindow hides the window if the program has a tray icon; otherwise it quits the program.
func (s *shell) closeWindow() {
	s.remember()
	if s.hasTray {
		s.visible = false
		s.window.Hide()
		s.b.wg.Go(memory.GiveBack)
		return
	}
	s.quit()
}

func (s *shell) quit() {
	s.remember()
	s.app.Quit()
}

// remember saves window sizes and drafts for the next start.
func (s *shell) remember() {
	s.keepDraft()
	for _, c := range s.torn {
		c.keepDraft()
		c.keepSize()
	}
	s.keepSettingsSize()
	if size := s.window.Canvas().Size(); s.visible && size.Width > 100 {
		s.b.prefs.update(func(r *remembered) { r.Width, r.Height = size.Width, size.Height })
	}
}

// keepSettingsSize saves the size of the settings window, if it is open.
func (s *shell) keepSettingsSize() {
	if s.settings != nil {
		size := s.settings.Canvas().Size()
		s.b.prefs.update(func(r *remembered) { r.SettingsWidth, r.SettingsHeight = size.Width, size.Height })
	}
}

func sizeOr(width, height float32, other fyne.Size) fyne.Size {
	if width < 100 || height < 100 {
		return other
	}
	return fyne.NewSize(width, height)
}

// activated is called when one of the windows comes to the front.
func (s *shell) activated() {
	if s.dialog != nil {
		s.dialog.Activated()
	}
}

func (s *shell) setTheme(mode style.Mode, scale float32) {
	last := s.b.prefs.get()
	s.b.prefs.update(func(r *remembered) { r.Theme, r.TextSize = string(mode), scale })
	if last.Theme != string(mode) || last.TextSize != scale {
		s.app.Settings().SetTheme(style.New(mode, scale))
	}
}
