package widgets

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"rsc.io/qr"

	"fairlead/app/style"
)

// Zoom shows the whole picture, or after a tap its natural size, with further zoom steps.
type Zoom struct {
	Composite
	// Scroller is the object to put into a window.
	Scroller *Scroller

	img    *canvas.Image
	pixels fyne.Size
	factor float32 // 0 fits the view
}

// The factor of a zoom step, and the maximum zoom.
const (
	zoomStep         = 1.25
	maxZoom  float32 = 8
)

// NewZoom creates one that shows the whole picture.
func NewZoom(r fyne.Resource) *Zoom {
	z := &Zoom{img: canvas.NewImageFromResource(r)}
	z.img.FillMode = canvas.ImageFillContain
	// other formats have no natural size
	if c, _, err := image.DecodeConfig(bytes.NewReader(r.Content())); err == nil {
		z.pixels = fyne.NewSize(float32(c.Width), float32(c.Height))
	}
	z.Compose(z, z.img)
	z.Scroller = NewScroller(z)
	z.Scroller.MaxHeight = 120 // its window must not grow with it
	return z
}

// fitFactor returns the factor at which the whole picture is visible.
func (z *Zoom) fitFactor() float32 {
	view, full := z.Scroller.Size(), z.naturalSize()
	if full.Width <= 0 || full.Height <= 0 {
		return 1
	}
	return min(view.Width/full.Width, view.Height/full.Height)
}

// naturalSize returns the size at which a pixel of the picture is a pixel of the screen.
func (z *Zoom) naturalSize() fyne.Size {
	scale := float32(1)
	if c := fyne.CurrentApp().Driver().CanvasForObject(z); c != nil && c.Scale() > 0 {
		scale = c.Scale()
	}
	return fyne.NewSize(z.pixels.Width/scale, z.pixels.Height/scale)
}

// Step zooms in by a number of steps, or out if it is negative; 0 shows the whole picture.
func (z *Zoom) Step(steps int) {
	view := z.Scroller.Size()
	at := fyne.NewPos(view.Width/2, view.Height/2).Add(z.Scroller.offset)
	now := cmp.Or(z.factor, z.fitFactor())
	to := min(now*float32(math.Pow(zoomStep, float64(steps))), max(maxZoom, z.fitFactor()))
	if steps == 0 || to <= z.fitFactor() && steps < 0 {
		to = 0
	}
	z.setFactor(to, at)
}

// setFactor sets the factor, and centres the point of the picture that was at a position.
func (z *Zoom) setFactor(factor float32, at fyne.Position) {
	if z.pixels.IsZero() {
		return
	}
	full, size, shown := z.naturalSize(), z.Size(), cmp.Or(z.factor, z.fitFactor())
	// the margin beside the picture
	left := fyne.NewPos(max(size.Width-full.Width*shown, 0)/2, max(size.Height-full.Height*shown, 0)/2)
	part := fyne.NewPos((at.X-left.X)/(full.Width*shown), (at.Y-left.Y)/(full.Height*shown))
	z.factor = factor
	z.img.SetMinSize(fyne.NewSize(full.Width*factor, full.Height*factor))
	z.Scroller.Update()
	view := z.Scroller.viewSize(z.Scroller.Size())
	z.Scroller.MoveTo(fyne.NewPos(part.X*full.Width*factor-view.Width/2, part.Y*full.Height*factor-view.Height/2))
	z.Scroller.Refresh()
}

// Tapped implements fyne.Tappable.
func (z *Zoom) Tapped(e *fyne.PointEvent) {
	if z.factor > 0 {
		z.setFactor(0, e.Position)
		return
	}
	z.setFactor(1, e.Position)
}

// Dragged implements fyne.Draggable.
func (z *Zoom) Dragged(e *fyne.DragEvent) {
	z.Scroller.MoveBy(fyne.NewDelta(-e.Dragged.DX, -e.Dragged.DY))
}

// DragEnd implements fyne.Draggable.
func (z *Zoom) DragEnd() {}

// Cursor implements desktop.Cursorable.
func (z *Zoom) Cursor() desktop.Cursor { return desktop.PointerCursor }

// QR shows a text as a QR code: black on white in every theme, because many cameras require that,
// with the quiet zone of ISO/IEC 18004. Each module is a whole number of screen pixels, so that its
// edges are sharp at every scale of the screen.
type QR struct {
	Composite
	code *qr.Code
}

const (
	qrQuiet  = 4 // width of the quiet zone in modules
	qrModule = 4 // minimum size of a module
)

// NewQR creates the code of a text; it fails for more than 2,953 bytes.
func NewQR(text string) (*QR, error) {
	// a screen has no damage: the lowest error correction allows the largest modules
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return nil, err
	}
	q := &QR{code: code}
	raster := canvas.NewRaster(q.paint)
	raster.ScaleMode = canvas.ImageScalePixels
	// the line separates white from a white background
	side := fyne.NewSquareSize(float32((code.Size + 2*qrQuiet) * qrModule))
	q.Compose(q, container.NewGridWrap(side, container.NewStack(raster, NewRect("", style.ColorLine, 0))))
	return q, nil
}

// paint draws the code centred in a picture of that many pixels.
func (q *QR) paint(w, h int) image.Image {
	pic := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})
	module := min(w, h) / (q.code.Size + 2*qrQuiet)
	left, top := (w-module*q.code.Size)/2, (h-module*q.code.Size)/2
	for y := range module * q.code.Size {
		for x := range module * q.code.Size {
			if q.code.Black(x/module, y/module) {
				pic.SetColorIndex(left+x, top+y, 1)
			}
		}
	}
	return pic
}
