package widgets

import "fyne.io/fyne/v2"

func Call(f func()) {
	if f != nil {
		f()
	}
}

// Relayout repeats the layout of a tree of containers without redrawing.
func Relayout(o fyne.CanvasObject) {
	if box, ok := o.(*fyne.Container); ok {
		box.Layout.Layout(box.Objects, box.Size())
		for _, c := range box.Objects {
			Relayout(c)
		}
		return
	}
	if p, ok := o.(*Press); ok {
		Relayout(p.box)
	}
}

func SetVisible(o fyne.CanvasObject, on bool) {
	if o.Visible() != on {
		if on {
			o.Show()
		} else {
			o.Hide()
		}
	}
}
