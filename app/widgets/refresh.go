package widgets

import "fyne.io/fyne/v2"

// Call calls f unless it is nil.
func Call(f func()) {
	if f != nil {
		f()
	}
}

// Relayout repeats the layout of a tree of containers without redrawing.
func Relayout(o fyne.CanvasObject) {
	if box, ok := o.(*fyne.Container); ok {
		if box.Layout != nil {
			box.Layout.Layout(box.Objects, box.Size())
		}
		for _, c := range box.Objects {
			Relayout(c)
		}
		return
	}
	if p, ok := o.(*Clickable); ok {
		Relayout(p.box)
	}
}

// SetVisible shows or hides an object.
func SetVisible(o fyne.CanvasObject, on bool) {
	if o.Visible() != on {
		if on {
			o.Show()
		} else {
			o.Hide()
		}
	}
}
