package widgets

import (
	"image"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"rsc.io/qr"

	"fairlead/app/style"
)

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
