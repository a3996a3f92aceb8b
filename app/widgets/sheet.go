package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
)

// Sheet is the place of a page that is drawn anew only when other parts of it are shown: a field keeps the keyboard and what is typed in it, and a list its
// place, while what they show changes. The zero value is not ready; see [NewSheet].
type Sheet struct {
	Box   *fyne.Container
	parts string
}

// NewSheet makes an empty one.
func NewSheet() Sheet { return Sheet{Box: container.NewStack()} }

// Draw shows what make makes, unless the same parts are shown already. It reports whether it did.
func (s *Sheet) Draw(parts string, make func() fyne.CanvasObject) bool {
	if s.parts == parts && len(s.Box.Objects) > 0 {
		return false
	}
	s.Put(make())
	s.parts = parts
	return true
}

// Put shows something until the next Draw.
func (s *Sheet) Put(o fyne.CanvasObject) {
	s.parts = ""
	s.Box.Objects = []fyne.CanvasObject{o}
	s.Box.Refresh()
}

// Forget has the next Draw draw.
func (s *Sheet) Forget() { s.parts = "" }

// NewLoading stands where something will be that has been asked for.
func NewLoading() fyne.CanvasObject {
	return container.NewVBox(NewText("Loading…", style.ColorMuted, "text"))
}

// NewNothing stands at the top of a page that has nothing to show; see [NewEmptyState].
func NewNothing(icon, title, text string, actions ...fyne.CanvasObject) fyne.CanvasObject {
	return container.NewVBox(Inset(64, 0, 0, 0, NewEmptyState(icon, title, text, actions...)))
}

// NewFailed stands where something would be that could not be loaded: what that is, why, and a button that tries again.
func NewFailed(what, why string, retry func()) fyne.CanvasObject {
	return container.NewVBox(NewErrorBox(Problem{What: what, Do: why, Button: "Try again"}, retry))
}
