package widgets

import "fyne.io/fyne/v2"

func call(f func()) {
	if f != nil {
		f()
	}
}

// relayout repeats the layout of a tree of containers without redrawing.
func relayout(o fyne.CanvasObject) {
	if box, ok := o.(*fyne.Container); ok {
		box.Layout.Layout(box.Objects, box.Size())
		for _, c := range box.Objects {
			relayout(c)
		}
		return
	}
	if p, ok := o.(*Press); ok {
		relayout(p.box)
	}
}

func show(o fyne.CanvasObject, on bool) {
	if o.Visible() != on {
		if on {
			o.Show()
		} else {
			o.Hide()
		}
	}
}
