package widgets

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// picture is a raster that is reliably redrawn. Fyne forgets the canvas of an object that was off
// the screen for a minute, but may retain its texture, so that a reused row would show its old
// content (fyne 2.8.0, canvas.Refresh). So every change creates a new raster.
type picture struct {
	raster *canvas.Raster
	draw   func(w, h int) image.Image
}

func newPicture(draw func(w, h int) image.Image) *picture {
	p := &picture{draw: draw}
	p.raster = p.fresh()
	return p
}

func (p *picture) fresh() *canvas.Raster {
	r := canvas.NewRaster(p.draw)
	r.ScaleMode = canvas.ImageScalePixels
	return r
}

// renew redraws it.
func (p *picture) renew() {
	old := p.raster
	p.raster = p.fresh()
	p.raster.Resize(old.Size())
	p.raster.Move(old.Position())
	p.raster.Hidden = old.Hidden
	old.Refresh() // frees its texture at once if possible
	canvas.Refresh(p.raster)
}

// place sets its position and size; a new size redraws it.
func (p *picture) place(at fyne.Position, size fyne.Size) {
	p.raster.Move(at)
	if p.raster.Size() != size {
		p.renew()
		p.raster.Resize(size)
	}
}
