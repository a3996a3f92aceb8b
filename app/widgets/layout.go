// Package widgets contains the small, general widgets and layouts of Fairlead's windows. A widget
// shows data and calls callbacks; it does not know the gateway, starts no goroutines and does not
// access the disk. Everything here belongs to the GUI thread.
package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Row lays objects out from left to right. The one with the index stretch gets the remaining width.
func Row(gap float32, stretch int, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&rowLayout{gap: gap, stretch: stretch}, objects...)
}

type rowLayout struct {
	gap     float32
	stretch int
}

func (l *rowLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	sum, most := Measure(l.gap, objects)
	return fyne.NewSize(sum.Width, most.Height)
}

// Measure returns the sum, with gaps, and the maximum of the sizes of the visible objects.
func Measure(gap float32, objects []fyne.CanvasObject) (sum, most fyne.Size) {
	shown := 0
	for _, o := range objects {
		if o.Visible() {
			m := o.MinSize()
			sum, most, shown = sum.Add(m), most.Max(m), shown+1
		}
	}
	gaps := gap * float32(max(shown-1, 0))
	return sum.AddWidthHeight(gaps, gaps), most
}

func (l *rowLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	rest := size.Width - l.MinSize(objects).Width
	x := float32(0)
	for i, o := range objects {
		if !o.Visible() {
			continue
		}
		m := o.MinSize()
		if i == l.stretch {
			m.Width = max(m.Width+rest, 0)
		}
		o.Resize(m)
		o.Move(fyne.NewPos(x, (size.Height-m.Height)/2))
		x += m.Width + l.gap
	}
}

// Col lays objects out from top to bottom over the full width, with a gap between them. Unlike a
// VBox it gives an object the height that it needs at its actual width, which wrapped text knows
// only then.
func Col(gap float32, objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(&colLayout{gap: gap}, objects...)
}

type colLayout struct{ gap float32 }

func (l *colLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	sum, most := Measure(l.gap, objects)
	return fyne.NewSize(most.Width, sum.Height)
}

func (l *colLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	y := float32(0)
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		h := Fit(o, size.Width)
		o.Move(fyne.NewPos(0, y))
		y += h + l.gap
	}
}

// Fit resizes o to the width and to the height that it needs at that width, which it returns.
func Fit(o fyne.CanvasObject, width float32) float32 {
	h := o.MinSize().Height
	if s := o.Size(); s.Width != width || s.Height != h {
		o.Resize(fyne.NewSize(width, h))
	}
	for range 2 { // nested wrapped text may need a second pass
		now := o.MinSize().Height
		if now == h {
			break
		}
		h = now
		o.Resize(fyne.NewSize(width, h))
	}
	return h
}

// Border is container.NewBorder with the objects in reading order, which Tab follows.
func Border(top, bottom, left, right, middle fyne.CanvasObject) *fyne.Container {
	c := container.New(layout.NewBorderLayout(top, bottom, left, right))
	for _, o := range []fyne.CanvasObject{top, left, middle, right, bottom} {
		if o != nil {
			c.Objects = append(c.Objects, o)
		}
	}
	return c
}

// Inset adds space around an object.
func Inset(top, right, bottom, left float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedLayout(top, bottom, left, right), o)
}

// Shrinking is an object at the left of a place, which becomes narrower with it, down to a width.
func Shrinking(o fyne.CanvasObject, least float32) *fyne.Container {
	return container.New(shrinkingLayout(least), o)
}

type shrinkingLayout float32

func (l shrinkingLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	if !o[0].Visible() {
		return fyne.Size{}
	}
	m := o[0].MinSize()
	return fyne.NewSize(min(m.Width, float32(l)), m.Height)
}

func (l shrinkingLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(fyne.NewSize(min(o[0].MinSize().Width, size.Width), size.Height))
}

// WithoutPadding removes the padding around a Fyne text widget.
func WithoutPadding(o fyne.CanvasObject) *fyne.Container { return container.New(noPaddingLayout{}, o) }

type noPaddingLayout struct{}

// inset returns the inset that removes the padding of the present theme.
func (noPaddingLayout) inset() fyne.Layout {
	p := -theme.InnerPadding()
	return layout.NewCustomPaddedLayout(p, p, p, p)
}

func (l noPaddingLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	return l.inset().MinSize(o).Max(fyne.Size{})
}

func (l noPaddingLayout) Layout(o []fyne.CanvasObject, size fyne.Size) { l.inset().Layout(o, size) }

// LimitLineLength limits text to a readable line length, at the left.
func LimitLineLength(o fyne.CanvasObject) *fyne.Container {
	return container.New(&limitLayout{style.LineLength, true}, o)
}

// LimitWidth limits an object's width, centred or at the left.
func LimitWidth(width float32, left bool, o fyne.CanvasObject) *fyne.Container {
	return container.New(&limitLayout{func() float32 { return width }, left}, o)
}

type limitLayout struct {
	width func() float32
	left  bool
}

func (l *limitLayout) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

func (l *limitLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	w := min(size.Width, l.width())
	x := Choose(l.left, 0, float32(int((size.Width-w)/2)))
	objects[0].Move(fyne.NewPos(x, 0))
	objects[0].Resize(fyne.NewSize(w, size.Height))
}

func iconSize() float32 { return style.Size(theme.SizeNameInlineIcon) }

// WithIcon puts an icon beside the first line of a text, and optional objects at the right.
func WithIcon(size fyne.ThemeSizeName, top float32, icon, text fyne.CanvasObject, right ...fyne.CanvasObject) *fyne.Container {
	return container.New(&iconLayout{size, top}, append([]fyne.CanvasObject{icon, text}, right...)...)
}

type iconLayout struct {
	size fyne.ThemeSizeName
	top  float32
}

func (l *iconLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	s := objects[1].MinSize().AddWidthHeight(iconSize()+6, 2*l.top)
	for _, o := range objects[2:] {
		if o.Visible() {
			m := o.MinSize()
			s = fyne.NewSize(s.Width+m.Width+style.Inside, max(s.Height, m.Height))
		}
	}
	return s
}

func (l *iconLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	line := fyne.MeasureText("M", style.Size(l.size), fyne.TextStyle{}).Height
	objects[0].Resize(fyne.NewSquareSize(iconSize()))
	objects[0].Move(fyne.NewPos(0, l.top+(line-iconSize())/2))
	end := size.Width
	for _, o := range objects[2:] {
		if o.Visible() {
			m := o.MinSize()
			end -= m.Width
			o.Resize(m)
			o.Move(fyne.NewPos(end, l.top+(line-m.Height)/2))
			end -= style.Inside
		}
	}
	x := iconSize() + 6
	Fit(objects[1], max(end-x, 0))
	objects[1].Move(fyne.NewPos(x, l.top))
}

// Frame is the base of a widget that consists of other objects, each with a name of its own for
// reading aids.
type Frame struct {
	widget.BaseWidget
	content fyne.CanvasObject
}

// Compose sets the content of self, the widget that embeds f. It must be called first.
func (f *Frame) Compose(self fyne.Widget, content fyne.CanvasObject) {
	f.content = content
	f.ExtendBaseWidget(self)
}

// CreateRenderer implements fyne.Widget.
func (f *Frame) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(f.content) }

// LayOut repeats the layout of the content, once it has a place.
func (f *Frame) LayOut() {
	if f.Size().Width > 0 {
		Relayout(f.content)
	}
}

// Composite is a [Frame] that reading aids read as one text.
type Composite struct{ Frame }

// Call calls f unless it is nil.
func Call(f func()) {
	if f != nil {
		f()
	}
}

// Choose returns one of two values.
func Choose[T any](on bool, yes, no T) T {
	if on {
		return yes
	}
	return no
}

// CallWith calls f with an argument unless it is nil.
func CallWith[T any](f func(T), arg T) {
	if f != nil {
		f(arg)
	}
}

// Relayout repeats the layout of a tree of containers without redrawing.
func Relayout(o fyne.CanvasObject) {
	if box, ok := o.(*fyne.Container); ok {
		if box.Layout != nil {
			box.Layout.Layout(box.Objects, box.Size())
		}
		for _, c := range box.Objects {
			Relayout(c)
		}
		return
	}
	if p, ok := o.(*Clickable); ok {
		Relayout(p.box)
	}
}

// SetContent shows other objects in a container.
func SetContent(box *fyne.Container, objects ...fyne.CanvasObject) {
	box.Objects = objects
	box.Refresh()
}

// SetEnabled enables or disables a button.
func SetEnabled(b interface {
	Enable()
	Disable()
}, on bool,
) {
	if on {
		b.Enable()
	} else {
		b.Disable()
	}
}

// SetVisible shows or hides an object.
func SetVisible(o fyne.CanvasObject, on bool) {
	if o.Visible() != on {
		if on {
			o.Show()
		} else {
			o.Hide()
		}
	}
}
