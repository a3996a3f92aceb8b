package approve

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// buttons lays out a dialog's buttons: those of the first group at the left, the others at the right. Where one line has no room for all, the
// second group goes below, and a group that is too wide by itself takes more lines.
func buttons(left, right []fyne.CanvasObject) *fyne.Container {
	return container.New(&buttonsLayout{left: len(left)}, append(append([]fyne.CanvasObject(nil), left...), right...)...)
}

type buttonsLayout struct {
	left  int
	width float32 // what there was at the last time; 0 before
}

// lines are the objects that are shown, as they stand; one line when there is room.
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

// MinSize implements fyne.Layout. Its height is that at the width it was last laid out with.
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
				one = false // the others follow it
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

// frameLayout puts its second object at the top, its third at the bottom and gives the first what is left. Unlike a border it gives those two the
// height that they need at the width they get.
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
