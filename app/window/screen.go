package window

import (
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/chatwindow"
	"fairlead/app/memory"
	"fairlead/app/native"
	"fairlead/app/preferences"
	"fairlead/app/widgets"
)

// Screen is the window on the screen. On Linux, a hidden one does not exist: it would hold the memory
// of the graphics driver, 20 MB or more.
type Screen struct {
	app   fyne.App
	prefs *preferences.Store
	title string
	frame *chatwindow.Frame // has the toolkit's window

	isVisible    bool
	closesHidden bool // not where the place of a new window cannot be set
	releases     memory.Releases
	place        native.Place // of the window that was closed
}

// defaultSize is the size of the window at the first start.
var defaultSize = fyne.NewSize(1120, 760)

// fill gives the toolkit's window its content, size and place.
func (s *Screen) fill(content fyne.CanvasObject) {
	w, last := s.frame.Window, s.prefs.Get()
	w.SetContent(widgets.Readable(content)) // the toolkit draws the background
	w.Resize(last.Size(defaultSize))
	w.SetPadded(false)
	if !s.place.Request(w) {
		s.place.IsKnown = false
		w.CenterOnScreen()
	}
	if !s.closesHidden {
		w.SetMaster() // gets the focus when a dialog closes; the program ends with it
	}
}

// show brings the window to the front.
func (s *Screen) show() {
	wasHidden := !s.isVisible
	s.isVisible = true
	s.releases.Cancel()
	s.frame.Window.Show()
	if wasHidden {
		s.Restore()
	}
	s.frame.Window.RequestFocus()
}

// Restore puts the window where it was in the last run, once it is on the screen.
func (s *Screen) Restore() { s.place.Restore(s.frame.Window) }

// hide hides the window, and reports whether there is a new one, which is to be filled.
func (s *Screen) hide() (isNew bool) {
	s.isVisible = false
	s.releases.Start(time.Now())
	old := s.frame.Window
	if !s.closesHidden || old.Canvas().Overlays().Top() != nil {
		s.place = native.Place{}
		old.Hide()
		return false
	}
	old.Canvas().Unfocus()
	s.place, _ = native.PlaceOf(old)
	s.frame.Window = native.NewWindow(s.app, s.title, nil) // before the other is closed: the toolkit ends without windows
	old.SetCloseIntercept(nil)
	old.Close()
	return true
}

// Tick passes the time: memory is released while the window is hidden.
func (s *Screen) Tick(now time.Time) { s.releases.Tick(now) }

// SavePlace stores the place of the window.
func (s *Screen) SavePlace() {
	if place, exists := native.PlaceOf(s.frame.Window); exists && s.isVisible {
		s.prefs.Update(func(r *preferences.Preferences) { r.Place = place })
	}
}

// SaveSize stores the size of the window, also after the toolkit's loop has ended.
func (s *Screen) SaveSize() {
	if size := s.frame.Window.Canvas().Size(); s.isVisible && size.Width > 100 {
		s.prefs.Update(func(r *preferences.Preferences) { r.Width, r.Height = size.Width, size.Height })
	}
}
