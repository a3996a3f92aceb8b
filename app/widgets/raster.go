package widgets

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

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
