package widgets

import (
	"fairlead/app/lists"
	"fairlead/app/style"
	"fairlead/app/wording"

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
	_, most := Measure(0, objects)
	return fyne.NewSize(most.Width, max(most.Height, l.height))
}

func (l *flowLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	var line []fyne.CanvasObject
	width, high, y := float32(0), float32(0), float32(0)
	flush := func() {
		x := Choose(l.centre, (size.Width-width)/2, float32(0))
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

// Beside puts right, with the remaining width, after left, or below it if that is less than least. A
// [Flow] at the left is in one line if there is room for it.
func Beside(gap, least float32, left, right fyne.CanvasObject) *fyne.Container {
	return container.New(&besideLayout{gap: gap, minWidth: least}, left, right)
}

// WithResult puts the result of changing a control after it, on the same line, or below it if there
// is little room.
func WithResult(control, result fyne.CanvasObject) *fyne.Container {
	return container.New(&besideLayout{gap: style.Inside, minWidth: 120, centre: true}, control, result)
}

type besideLayout struct {
	gap, minWidth float32
	centre        bool    // right is in the middle of left's height if it is lower
	height        float32 // at the width of the last layout
}

func (l *besideLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), fyne.Size{}
	if o[1].Visible() {
		b = o[1].MinSize()
	}
	return fyne.NewSize(max(a.Width, b.Width), max(a.Height, b.Height, l.height))
}

func (l *besideLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	a := fyne.NewSize(min(lineWidth(o[0]), size.Width), 0)
	a.Height = Fit(o[0], a.Width)
	o[0].Move(fyne.NewPos(0, 0))
	if l.height = a.Height; !o[1].Visible() {
		return
	}
	at, width := fyne.NewPos(a.Width+l.gap, 0), size.Width-a.Width-l.gap
	if width < l.minWidth {
		at, width = fyne.NewPos(0, a.Height+l.gap), size.Width
	}
	height := Fit(o[1], width)
	if l.centre && at.Y == 0 {
		at.Y = max((a.Height-height)/2, 0)
	}
	o[1].Move(at)
	l.height = max(a.Height, at.Y+height)
}

// lineWidth returns the width of an object, and that of a Flow in one line.
func lineWidth(o fyne.CanvasObject) float32 {
	if box, ok := o.(*fyne.Container); ok {
		if l, ok := box.Layout.(*flowLayout); ok {
			sum, _ := Measure(l.gap, box.Objects)
			return sum.Width
		}
	}
	return o.MinSize().Width
}

// WithControls puts controls at the right of an object, or below it if less than least is left.
func WithControls(least float32, o, controls fyne.CanvasObject) *fyne.Container {
	return container.New(&controlsLayout{minWidth: least}, o, controls)
}

type controlsLayout struct {
	minWidth float32
	below    bool // result of the last layout
}

func (l *controlsLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	if l.below {
		return fyne.NewSize(max(a.Width, b.Width), a.Height+style.Inside+b.Height)
	}
	return fyne.NewSize(a.Width+style.Inside+lineWidth(o[1]), max(a.Height, b.Height))
}

func (l *controlsLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	height, controls := o[0].MinSize().Height, fyne.NewSize(lineWidth(o[1]), o[1].MinSize().Height)
	width := size.Width - controls.Width - style.Inside
	at := fyne.NewPos(width+style.Inside, (size.Height-controls.Height)/2)
	if l.below = width < l.minWidth*style.Size("text")/14; l.below {
		width, at = size.Width, fyne.NewPos(0, height+style.Inside)
		controls.Width = size.Width
	} else {
		height = size.Height
	}
	o[0].Resize(fyne.NewSize(width, height))
	o[0].Move(fyne.Position{})
	Fit(o[1], controls.Width)
	o[1].Move(at)
}

// NewLabelled is a line of a list of facts: a label of a fixed width before a wrapping value.
func NewLabelled(width float32, label string, value fyne.CanvasObject) *fyne.Container {
	name := NewText(label, style.ColorMuted, "text")
	name.Ellipsis = true
	return container.New(labelledLayout{func() float32 { return width * style.Size("text") / 14 }}, name, value)
}

// NewFacts creates a list of facts with their names.
func NewFacts(facts []wording.Fact) fyne.CanvasObject {
	return Col(style.Gap, lists.Map(facts, func(f wording.Fact) fyne.CanvasObject {
		return NewLabelled(128, f.Name, NewParagraph(f.Text, style.ColorText, "text"))
	})...)
}

// Labels is the column of labels of a list of facts. It is as wide as its widest label, at any size
// of the text.
type Labels struct{ names []fyne.CanvasObject }

// Row is a line of the list.
func (l *Labels) Row(label string, value fyne.CanvasObject) *fyne.Container {
	name := NewText(label, style.ColorMuted, "text")
	l.names = append(l.names, name)
	return container.New(labelledLayout{l.width}, name, value)
}

func (l *Labels) width() float32 {
	_, widest := Measure(0, l.names)
	return widest.Width + style.Inside
}

type labelledLayout struct{ width func() float32 }

func (l labelledLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	m := o[1].MinSize()
	return fyne.NewSize(l.width()+m.Width, max(m.Height, o[0].MinSize().Height))
}

func (l labelledLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(fyne.NewSize(l.width()-style.Inside, o[0].MinSize().Height))
	o[1].Move(fyne.NewPos(l.width(), 0))
	Fit(o[1], max(size.Width-l.width(), 0))
}
