package transcript

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// NewThumbnail shows a picture of at most 160 by 120; a tap opens it.
func NewThumbnail(r fyne.Resource, onTap func()) *widgets.Clickable {
	img := canvas.NewImageFromResource(r)
	img.FillMode = canvas.ImageFillContain
	img.SetMinSize(fyne.NewSize(160, 120))
	p := widgets.NewClickable(widgets.Inset(4, 4, 4, 4, img), onTap)
	p.SetBackground(style.ColorCode)
	return p
}
