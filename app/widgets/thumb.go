package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"fairlead/app/style"
)

// NewImageThumb shows a picture of at most 160 by 120; a tap opens it.
func NewImageThumb(r fyne.Resource, onTap func()) *Press {
	img := canvas.NewImageFromResource(r)
	img.FillMode = canvas.ImageFillContain
	img.SetMinSize(fyne.NewSize(160, 120))
	p := NewPress(Inset(4, 4, 4, 4, img), onTap)
	p.SetGround(style.ColorCode)
	return p
}
