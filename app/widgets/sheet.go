package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
)

// Body is the area of a page that is rebuilt only when its structure changes: meanwhile a field
// keeps the focus and its text, and a list its position, while their content is updated. Create it
// with [NewBody].
type Body struct {
	Box *fyne.Container
	key string
}

// NewBody creates an empty one.
func NewBody() Body { return Body{Box: container.NewStack()} }

// Draw shows the result of make, unless the same structure is shown already. It reports whether it
// called make.
func (s *Body) Draw(parts string, make func() fyne.CanvasObject) bool {
	if s.key == parts && len(s.Box.Objects) > 0 {
		return false
	}
	s.Put(make())
	s.key = parts
	return true
}

// Put shows an object until the next Draw.
func (s *Body) Put(o fyne.CanvasObject) {
	s.key = ""
	s.Box.Objects = []fyne.CanvasObject{o}
	s.Box.Refresh()
}

// Forget forces the next Draw to rebuild.
func (s *Body) Forget() { s.key = "" }

// NewLoading is the placeholder for content that is loading.
func NewLoading() fyne.CanvasObject {
	return container.NewVBox(NewText("Loading…", style.ColorMuted, "text"))
}

// NewEmptyPage is the text at the top of an empty page; see [NewEmptyState].
func NewEmptyPage(icon, title, text string, actions ...fyne.CanvasObject) fyne.CanvasObject {
	return container.NewVBox(Inset(64, 0, 0, 0, NewEmptyState(icon, title, text, actions...)))
}

// NewLoadError is the placeholder for content that could not be loaded: its name, the reason, and a
// button that retries.
func NewLoadError(what, why string, retry func()) fyne.CanvasObject {
	return container.NewVBox(NewErrorBox(Problem{Title: what, Advice: why, Button: "Try again"}, retry))
}
