package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// Beside puts left, at its own width, before right, which gets the remaining width. If that is less
// than least, right goes below.
func Beside(gap, least float32, left, right fyne.CanvasObject) *fyne.Container {
	return container.New(&besideLayout{gap: gap, minWidth: least}, left, right)
}

type besideLayout struct {
	gap, minWidth float32
	height        float32 // at the width of the last layout
}

func (l *besideLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(max(a.Width, b.Width), max(a.Height, b.Height, l.height))
}

func (l *besideLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	a := o[0].MinSize()
	at, width := fyne.NewPos(a.Width+l.gap, 0), size.Width-a.Width-l.gap
	if width < l.minWidth {
		at, width = fyne.NewPos(0, a.Height+l.gap), size.Width
	}
	o[0].Resize(a)
	o[0].Move(fyne.NewPos(0, 0))
	o[1].Move(at)
	l.height = max(a.Height, at.Y+Fit(o[1], width))
}
