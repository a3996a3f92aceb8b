package window

import (
	"fyne.io/fyne/v2"

	"fairlead/app/style"
)

// sidebarWidth grows with the text size, so that names are not cut off.
func sidebarWidth() float32 {
	const normal, most = 240, 360
	return min(max(normal, normal*style.Size("text")/14), most)
}

// layout puts the sidebar beside the chat, or over it in a narrow window. Objects: chat, first page,
// page, sidebar, drawer, messages, mark of drops. Tab visits the main content first and the sidebar
// after it.
type layout struct {
	isNarrow bool
	narrowed func() // is called when isNarrow changes
	laidOut  func() // is called after each layout
}

func (l *layout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(480, 560) }

func (l *layout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	if narrow := size.Width < style.Narrow; narrow != l.isNarrow {
		l.isNarrow = narrow
		l.narrowed()
	}
	left := sidebarWidth()
	if l.isNarrow {
		left = 0
		o[4].Resize(size)
		o[4].Move(fyne.NewPos(0, 0))
	} else {
		o[3].Resize(fyne.NewSize(left, size.Height))
		o[3].Move(fyne.NewPos(0, 0))
	}
	rest := fyne.NewSize(size.Width-left, size.Height)
	for _, i := range []int{0, 1, 2, 5} {
		o[i].Resize(rest)
		o[i].Move(fyne.NewPos(left, 0))
	}
	o[6].Resize(size)
	l.laidOut()
}

// drawerLayout puts the sidebar at the left edge, with a separator at its side.
type drawerLayout struct{}

func (drawerLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(sidebarWidth(), 0) }

func (drawerLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	width := min(sidebarWidth()+40, size.Width)
	o[0].Resize(fyne.NewSize(width, size.Height))
	o[1].Resize(fyne.NewSize(1, size.Height))
	o[1].Move(fyne.NewPos(width, 0))
}
