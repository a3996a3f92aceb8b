package widgets

import (
	"slices"
	"weak"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
)

// verticalScrolls are the scroll containers in use; they belong to the GUI thread.
var verticalScrolls []weak.Pointer[container.Scroll]

// NewVScroll scrolls content vertically and supports [ScrollIntoView]: Fyne does not scroll to the
// object that Tab focuses.
func NewVScroll(content fyne.CanvasObject) *container.Scroll {
	s := container.NewVScroll(content)
	verticalScrolls = slices.DeleteFunc(verticalScrolls, func(p weak.Pointer[container.Scroll]) bool { return p.Value() == nil })
	verticalScrolls = append(verticalScrolls, weak.Make(s))
	return s
}

// ScrollIntoView scrolls an object into view in all surrounding containers of [NewVScroll]. It does
// not scroll to objects higher than the view.
func ScrollIntoView(o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	for _, p := range verticalScrolls {
		s := p.Value()
		if s == nil || !s.Visible() || s.Size().Height <= 0 || !contains(d, s, o) {
			continue
		}
		top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(s).Y
		bottom, height := top+o.Size().Height, s.Size().Height
		to := s.Offset
		switch {
		case bottom-top > height:
			continue
		case top < 0:
			to.Y += top - style.Inside
		case bottom > height:
			to.Y += bottom - height + style.Inside
		default:
			continue
		}
		s.ScrollToOffset(to)
	}
}

// contains reports whether a scroll container contains an object: Fyne does not expose an object's
// parent.
func contains(d fyne.Driver, s *container.Scroll, o fyne.CanvasObject) bool {
	at, before := s.Content.Position(), d.AbsolutePositionForObject(o)
	s.Content.Move(at.AddXY(0, 1))
	moved := d.AbsolutePositionForObject(o) != before
	s.Content.Move(at)
	return moved
}
