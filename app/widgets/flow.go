package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// Flow lays out objects like words, in lines from left to right.
func Flow(gap float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&flowLayout{gap: gap}, objects...)
}

type flowLayout struct {
	gap    float32
	centre bool
	height float32 // at the width of the last layout
}

func (l *flowLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, o := range objects {
		if o.Visible() {
			s = s.Max(o.MinSize())
		}
	}
	return fyne.NewSize(s.Width, max(s.Height, l.height))
}

func (l *flowLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	var line []fyne.CanvasObject
	width, high, y := float32(0), float32(0), float32(0)
	flush := func() {
		x := float32(0)
		if l.centre {
			x = (size.Width - width) / 2
		}
		for _, o := range line {
			m := o.MinSize()
			o.Resize(fyne.NewSize(min(m.Width, size.Width), m.Height))
			o.Move(fyne.NewPos(x, y+(high-m.Height)/2))
			x += m.Width + l.gap
		}
		if len(line) > 0 {
			y += high + l.gap
		}
		line, width, high = nil, 0, 0
	}
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		if len(line) > 0 && width+l.gap+m.Width > size.Width {
			flush()
		}
		if len(line) > 0 {
			width += l.gap
		}
		width += m.Width
		high = max(high, m.Height)
		line = append(line, o)
	}
	flush()
	l.height = max(y-l.gap, 0)
}
