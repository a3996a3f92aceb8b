package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Rect is a rectangle in a named colour that follows the theme.
type Rect struct {
	widget.BaseWidget
	Fill, Line fyne.ThemeColorName // empty means none
	Corner     float32
	min        fyne.Size
}

// NewRect creates a rectangle.
func NewRect(fill, line fyne.ThemeColorName, corner float32) *Rect {
	r := &Rect{Fill: fill, Line: line, Corner: corner}
	r.ExtendBaseWidget(r)
	return r
}

// SetMinSize sets the minimum size.
func (r *Rect) SetMinSize(s fyne.Size) { r.min = s }

// SetFill changes the colour.
func (r *Rect) SetFill(fill fyne.ThemeColorName) {
	if r.Fill != fill {
		r.Fill = fill
		r.Refresh()
	}
}

// SetLine changes the border's colour.
func (r *Rect) SetLine(line fyne.ThemeColorName) {
	if r.Line != line {
		r.Line = line
		r.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (r *Rect) CreateRenderer() fyne.WidgetRenderer {
	x := &rectRenderer{r: r, rect: canvas.NewRectangle(nil), inner: canvas.NewRectangle(nil)}
	x.update()
	return x
}

// rectRenderer draws a border as one rectangle on another. It uses a stroke only for a border
// without a fill, because Fyne's software painter misplaces strokes by a pixel.
type rectRenderer struct {
	r           *Rect
	rect, inner *canvas.Rectangle
}

func (x *rectRenderer) update() {
	r := x.r
	x.rect.FillColor, x.rect.StrokeColor, x.rect.StrokeWidth = nil, nil, 0
	x.rect.CornerRadius, x.inner.CornerRadius = r.Corner, max(r.Corner-1, 0)
	switch {
	case r.Line != "" && r.Fill != "":
		x.rect.FillColor, x.inner.FillColor = style.Color(r.Line), style.Color(r.Fill)
	case r.Line != "":
		x.rect.StrokeColor, x.rect.StrokeWidth = style.Color(r.Line), 1
	case r.Fill != "":
		x.rect.FillColor = style.Color(r.Fill)
	}
	SetVisible(x.inner, r.Line != "" && r.Fill != "")
}

func (x *rectRenderer) Layout(s fyne.Size) {
	x.rect.Resize(s)
	x.inner.Move(fyne.NewPos(1, 1))
	x.inner.Resize(fyne.NewSize(max(s.Width-2, 0), max(s.Height-2, 0)))
}

func (x *rectRenderer) MinSize() fyne.Size { return x.r.min }

func (x *rectRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{x.rect, x.inner} }

func (x *rectRenderer) Destroy() {}

func (x *rectRenderer) Refresh() {
	x.update()
	x.rect.Refresh()
	x.inner.Refresh()
}

// HLine creates a one-pixel separator.
func HLine() fyne.CanvasObject {
	r := NewRect(style.ColorLine, "", 0)
	r.min = fyne.NewSize(1, 1)
	return r
}
