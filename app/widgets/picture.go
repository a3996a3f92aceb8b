package widgets

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

// picture is a raster that is certainly drawn anew. The toolkit forgets after a minute off the screen on which canvas an object was, but may keep
// its texture: a row that is used again would show what it showed before (fyne 2.8.0, canvas.Refresh). So what changed gets a new raster.
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

// renew draws it anew.
func (p *picture) renew() {
	old := p.raster
	p.raster = p.fresh()
	p.raster.Resize(old.Size())
	p.raster.Move(old.Position())
	p.raster.Hidden = old.Hidden
	old.Refresh() // gives its texture back at once where that is possible
	canvas.Refresh(p.raster)
}

// place gives it a place and a size; another size is drawn anew.
func (p *picture) place(at fyne.Position, size fyne.Size) {
	p.raster.Move(at)
	if p.raster.Size() != size {
		p.renew()
		p.raster.Resize(size)
	}
}
