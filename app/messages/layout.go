package messages

import (
	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Foot is a chat as its window's messages see it.
type Foot interface {
	Visible() bool
	// FootHeight is the height of the composer.
	FootHeight() float32
	// Reserve leaves a height free above the composer.
	Reserve(height float32)
}

// layout puts the messages below a page or, in a chat, between the transcript and the composer, where
// they cover nothing.
type layout struct {
	foot  Foot
	pages []fyne.CanvasObject // leave the messages free below them
}

func (*layout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (l *layout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	y := size.Height - style.Inside
	if l.foot.Visible() {
		y -= l.foot.FootHeight()
	}
	bottom := y
	for _, x := range o {
		if !x.Visible() {
			continue
		}
		width := min(560, size.Width-2*style.Group)
		if t, ok := x.(*widgets.Toast); ok {
			width = min(width, t.NaturalWidth())
		}
		height := widgets.Fit(x, width)
		y = max(y-height, style.Inside)
		x.Resize(fyne.NewSize(width, height))
		x.Move(fyne.NewPos(float32(int((size.Width-width)/2)), y))
		y -= style.Inside
	}
	l.foot.Reserve(widgets.Choose(l.foot.Visible(), bottom-y, 0))
	for _, page := range l.pages {
		page.Resize(fyne.NewSize(size.Width, size.Height-widgets.Choose(y < bottom, size.Height-y, 0)))
	}
}
