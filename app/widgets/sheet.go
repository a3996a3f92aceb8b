package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
)

// Sheet is the area of a page that is rebuilt only when its structure changes: meanwhile a field
// keeps the focus and its text, and a list its position, while their content is updated. Create it
// with [NewSheet].
type Sheet struct {
	Box   *fyne.Container
	parts string
}

// NewSheet creates an empty one.
func NewSheet() Sheet { return Sheet{Box: container.NewStack()} }

// Draw shows the result of make, unless the same structure is shown already. It reports whether it
// called make.
func (s *Sheet) Draw(parts string, make func() fyne.CanvasObject) bool {
	if s.parts == parts && len(s.Box.Objects) > 0 {
		return false
	}
	s.Put(make())
	s.parts = parts
	return true
}

// Put shows an object until the next Draw.
func (s *Sheet) Put(o fyne.CanvasObject) {
	s.parts = ""
	s.Box.Objects = []fyne.CanvasObject{o}
	s.Box.Refresh()
}

// Forget forces the next Draw to rebuild.
func (s *Sheet) Forget() { s.parts = "" }

// NewLoading is the placeholder for content that is loading.
func NewLoading() fyne.CanvasObject {
	return container.NewVBox(NewText("Loading…", style.ColorMuted, "text"))
}

// NewNothing is the text at the top of an empty page; see [NewEmptyState].
func NewNothing(icon, title, text string, actions ...fyne.CanvasObject) fyne.CanvasObject {
	return container.NewVBox(Inset(64, 0, 0, 0, NewEmptyState(icon, title, text, actions...)))
}

// NewFailed is the placeholder for content that could not be loaded: its name, the reason, and a
// button that retries.
func NewFailed(what, why string, retry func()) fyne.CanvasObject {
	return container.NewVBox(NewErrorBox(Problem{What: what, Do: why, Button: "Try again"}, retry))
}
