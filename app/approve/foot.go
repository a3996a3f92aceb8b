package approve

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// buttons lays out a dialog's buttons: the first group at the left, the others at the right. If
// they do not fit in one line, the second group goes below, and a group that is too wide takes
// several lines.
func buttons(left, right []fyne.CanvasObject) *fyne.Container {
	return container.New(&buttonsLayout{left: len(left)}, append(append([]fyne.CanvasObject(nil), left...), right...)...)
}

type buttonsLayout struct {
	left  int
	width float32 // width at the last layout; 0 before
}

// lines returns the visible objects in lines; in one line if they fit.
func (l *buttonsLayout) lines(o []fyne.CanvasObject, width float32) (lines [][]fyne.CanvasObject, one bool) {
	var groups [2][]fyne.CanvasObject
	for i, x := range o {
		switch {
		case !x.Visible():
		case i < l.left:
			groups[0] = append(groups[0], x)
		default:
			groups[1] = append(groups[1], x)
		}
	}
	all := append(append([]fyne.CanvasObject(nil), groups[0]...), groups[1]...)
	if width <= 0 || wide(all) <= width {
		return [][]fyne.CanvasObject{all}, true
	}
	for _, g := range groups {
		var line []fyne.CanvasObject
		for _, x := range g {
			if len(line) > 0 && wide(append(line[:len(line):len(line)], x)) > width {
				lines = append(lines, line)
				line = nil
			}
			line = append(line, x)
		}
		if len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines, false
}

func wide(o []fyne.CanvasObject) (w float32) {
	for i, x := range o {
		if i > 0 {
			w += style.Gap
		}
		w += x.MinSize().Width
	}
	return w
}

// MinSize implements fyne.Layout. Its height is for the width of the last layout.
func (l *buttonsLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	lines, _ := l.lines(o, l.width)
	var s fyne.Size
	for i, line := range lines {
		var h float32
		for _, x := range line {
			m := x.MinSize()
			s.Width, h = max(s.Width, m.Width), max(h, m.Height)
		}
		if i > 0 {
			h += style.Gap
		}
		s.Height += h
	}
	return s
}

// Layout implements fyne.Layout.
func (l *buttonsLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	l.width = size.Width
	lines, one := l.lines(o, size.Width)
	y := float32(0)
	for _, line := range lines {
		x, h := float32(0), float32(0)
		if !one && l.isRight(o, line[0]) {
			x = max(size.Width-wide(line), 0)
		}
		for _, b := range line {
			m := b.MinSize()
			if one && l.isRight(o, b) && x < size.Width {
				x = max(size.Width-wide(line[index(line, b):]), x)
				one = false // the other groups follow in the same line
			}
			m.Width = min(m.Width, size.Width)
			b.Resize(m)
			b.Move(fyne.NewPos(x, y))
			x += m.Width + style.Gap
			h = max(h, m.Height)
		}
		y += h + style.Gap
	}
}

func (l *buttonsLayout) isRight(o []fyne.CanvasObject, b fyne.CanvasObject) bool {
	return index(o, b) >= l.left
}

func index(o []fyne.CanvasObject, b fyne.CanvasObject) int {
	for i, x := range o {
		if x == b {
			return i
		}
	}
	return -1
}

// frameLayout puts its second object at the top, its third at the bottom and gives the rest to the
// first. Unlike a border layout it uses the heights that those need at their actual width.
type frameLayout struct{}

func (frameLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	var s fyne.Size
	for _, x := range o {
		m := x.MinSize()
		s = fyne.NewSize(max(s.Width, m.Width), s.Height+m.Height)
	}
	return s
}

func (frameLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	top, bottom := widgets.Fit(o[1], size.Width), widgets.Fit(o[2], size.Width)
	o[1].Move(fyne.NewPos(0, 0))
	o[2].Move(fyne.NewPos(0, size.Height-bottom))
	o[0].Move(fyne.NewPos(0, top))
	o[0].Resize(fyne.NewSize(size.Width, max(size.Height-top-bottom, 0)))
}
