package widgets

import (
	"image"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Background is the background of large areas: a [Rect] that is cheap to draw. Fyne computes the
// distance to the corners for every pixel of a rounded rectangle, which dominates the drawing time
// without a graphics processor. Here only the bands with the corners are rounded, and the area
// between is one stretched pixel.
type Background struct{ Rect }

// NewBackground creates one.
func NewBackground(fill, line fyne.ThemeColorName, corner float32) *Background {
	g := &Background{Rect{Fill: fill, Line: line, Corner: corner}}
	g.ExtendBaseWidget(g)
	return g
}

// CreateRenderer implements fyne.Widget.
func (g *Background) CreateRenderer() fyne.WidgetRenderer {
	r := &backgroundRenderer{g: g}
	for i := range r.band {
		r.band[i] = canvas.NewRectangle(nil)
	}
	fill, line := func() fyne.ThemeColorName { return g.Fill }, func() fyne.ThemeColorName { return g.Line }
	r.middle, r.left, r.right = newFilledRaster(fill), newFilledRaster(line), newFilledRaster(line)
	r.update()
	return r
}

func newFilledRaster(name func() fyne.ThemeColorName) *Raster {
	return NewRaster(func(int, int) image.Image {
		img := image.NewRGBA(image.Rect(0, 0, 1, 1))
		if n := name(); n != "" {
			img.SetRGBA(0, 0, color.RGBAModel.Convert(style.Color(n)).(color.RGBA))
		}
		return img
	})
}

// backgroundRenderer draws the rounded ends as the fill on top of the border, like [Rect].
type backgroundRenderer struct {
	g *Background
	// the upper band's border and fill, the lower band's border and fill
	band        [4]*canvas.Rectangle
	middle      *Raster
	left, right *Raster
}

func (r *backgroundRenderer) update() {
	c, line := r.g.Corner, r.g.Line
	if line == "" {
		line = r.g.Fill
	}
	for i, b := range r.band {
		b.FillColor = style.Color(line)
		corner := c
		if i%2 == 1 {
			b.FillColor, corner = style.Color(r.g.Fill), max(c-1, 0)
		}
		if i < 2 {
			b.TopLeftCornerRadius, b.TopRightCornerRadius = corner, corner
		} else {
			b.BottomLeftCornerRadius, b.BottomRightCornerRadius = corner, corner
		}
		SetVisible(b, c > 0 && (i%2 == 0 || r.g.Line != ""))
	}
	SetVisible(r.left.Image, r.g.Line != "")
	SetVisible(r.right.Image, r.g.Line != "")
}

func (r *backgroundRenderer) Layout(s fyne.Size) {
	edge := Choose(r.g.Line != "", 1, float32(0))
	end := float32(0)
	if r.g.Corner > 0 {
		end = min(r.g.Corner+1, s.Height/2)
	}
	place := func(o fyne.CanvasObject, x, y, w, h float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(max(w, 0), max(h, 0)))
	}
	place(r.band[0], 0, 0, s.Width, end)
	place(r.band[1], 1, 1, s.Width-2, end-1)
	place(r.band[2], 0, s.Height-end, s.Width, end)
	place(r.band[3], 1, s.Height-end, s.Width-2, end-1)
	// The straight edge of a band is antialiased: the middle begins one pixel earlier.
	if end > r.g.Corner && end > 0 {
		end--
	}
	place(r.middle.Image, edge, end, s.Width-2*edge, s.Height-2*end)
	place(r.left.Image, 0, end, edge, s.Height-2*end)
	place(r.right.Image, s.Width-edge, end, edge, s.Height-2*end)
}

func (r *backgroundRenderer) MinSize() fyne.Size { return fyne.Size{} }

func (r *backgroundRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.band[0], r.band[1], r.band[2], r.band[3], r.middle.Image, r.left.Image, r.right.Image}
}

func (r *backgroundRenderer) Destroy() {}

func (r *backgroundRenderer) Refresh() {
	r.update()
	r.Layout(r.g.Size())
	for _, b := range r.band {
		b.Refresh()
	}
	for _, p := range []*Raster{r.middle, r.left, r.right} {
		p.Redraw()
	}
}

// Raster is a raster that is reliably redrawn. Fyne forgets the canvas of an object that was off
// the screen for a minute, but may retain its texture, so that a reused row would show its old
// content (fyne 2.8.0, canvas.Refresh). So every change creates a new raster.
type Raster struct {
	Image *canvas.Raster
	draw  func(w, h int) image.Image
}

// NewRaster creates a raster that draw paints in pixels.
func NewRaster(draw func(w, h int) image.Image) *Raster {
	p := &Raster{draw: draw}
	p.Image = p.newImage()
	return p
}

func (p *Raster) newImage() *canvas.Raster {
	r := canvas.NewRaster(p.draw)
	r.ScaleMode = canvas.ImageScalePixels
	return r
}

// Redraw redraws it.
func (p *Raster) Redraw() {
	old := p.Image
	p.Image = p.newImage()
	p.Image.Resize(old.Size())
	p.Image.Move(old.Position())
	p.Image.Hidden = old.Hidden
	old.Refresh() // frees its texture at once if possible
	canvas.Refresh(p.Image)
}

// Place sets its position and size; a new size redraws it.
func (p *Raster) Place(at fyne.Position, size fyne.Size) {
	p.Image.Move(at)
	if p.Image.Size() != size {
		p.Redraw()
		p.Image.Resize(size)
	}
}

// NewRasterRenderer returns the renderer of a widget that consists of one picture, which draw
// paints in pixels. area returns the present place and size of the picture in the widget.
func NewRasterRenderer(draw func(w, h int) image.Image, minSize func() fyne.Size, area func() (fyne.Position, fyne.Size)) fyne.WidgetRenderer {
	r := &rasterRenderer{Raster: NewRaster(draw), minSize: minSize, area: area}
	r.Place(area())
	return r
}

type rasterRenderer struct {
	*Raster
	minSize func() fyne.Size
	area    func() (fyne.Position, fyne.Size)
}

func (r *rasterRenderer) MinSize() fyne.Size           { return r.minSize() }
func (r *rasterRenderer) Layout(fyne.Size)             { r.Place(r.area()) }
func (r *rasterRenderer) Refresh()                     { r.Place(r.area()); r.Redraw() }
func (r *rasterRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.Image} }
func (r *rasterRenderer) Destroy()                     {}

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

// Set changes the colours.
func (r *Rect) Set(fill, line fyne.ThemeColorName) {
	if r.Fill != fill || r.Line != line {
		r.Fill, r.Line = fill, line
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
		if r.Corner > 0 {
			x.rect.FillColor = invisible(x.rect.StrokeColor)
		}
	case r.Fill != "":
		x.rect.FillColor = style.Color(r.Fill)
	}
	SetVisible(x.inner, r.Line != "" && r.Fill != "")
}

// invisible returns a colour for the inside of a round rectangle that has only a border. The painter
// mixes the border with the inside at its edge: with no colour, which it takes for black, the border
// would be darker than its colour, and look twice as wide.
func invisible(border color.Color) color.Color {
	r, g, b, _ := border.RGBA()
	return color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 1}
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
