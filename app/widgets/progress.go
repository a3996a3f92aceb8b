package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
)

// Progress is a bar that shows how much of something is done.
type Progress struct {
	Box    *fyne.Container
	layout progressLayout
}

// NewProgress returns an empty bar.
func NewProgress() *Progress {
	p := &Progress{}
	p.Box = container.New(&p.layout, NewRect(style.ColorLine, "", 2), NewRect(style.ColorAccent, "", 2))
	return p
}

// Set sets what is done, from 0 to 1.
func (p *Progress) Set(fraction float64) {
	p.layout.fraction = fraction
	p.layout.Layout(p.Box.Objects, p.Box.Size())
}

// Fraction returns what is done.
func (p *Progress) Fraction() float64 { return p.layout.fraction }

// progressLayout lays out the track of a bar and its filled part.
type progressLayout struct{ fraction float64 }

func (*progressLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(80, 4) }

func (l *progressLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(size)
	o[1].Resize(fyne.NewSize(size.Width*float32(l.fraction), size.Height))
}
