package approve

import (
	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Width is the dialog's width, and WideWidth that for changes, which are shown side by side. Best
// returns the initial size.
const (
	Width     float32 = 640
	WideWidth float32 = 920
)

// Limits of the height.
const minHeight, maxHeight float32 = 300, 640

// Best returns the size that fits the current approval within the limits; larger content scrolls.
func (d *Dialog) Best() fyne.Size {
	width := Width
	if p := d.Current().Preview; p != nil && p.Diff != "" {
		width = WideWidth
	}
	full := widgets.Fit(d.body, width) + widgets.Fit(d.head, width) + widgets.Fit(d.bottom, width) + style.Inside
	return fyne.NewSize(width, min(max(full, minHeight), maxHeight))
}

// put inserts an object between the title and the buttons.
func (d *Dialog) put(o fyne.CanvasObject) {
	d.body.Objects = []fyne.CanvasObject{widgets.Inset(style.Inside, style.Page, style.Inside, style.Page, o)}
	d.body.Refresh()
	d.scroll.ScrollToTop()
	d.grow()
}

// grow requests a larger window if the content does not fit.
func (d *Dialog) grow() {
	has, wants := d.canvas.Size(), d.Best()
	if d.front && d.h.Grow != nil && (wants.Width > has.Width || wants.Height > has.Height) {
		d.h.Grow(has.Max(wants))
	}
}

func setShown(o fyne.CanvasObject, on bool) {
	if on != o.Visible() {
		if on {
			o.Show()
		} else {
			o.Hide()
		}
	}
}
