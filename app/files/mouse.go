package files

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// MouseDown implements desktop.Mouseable: pressing selects a line at once.
func (r *row) MouseDown(e *desktop.MouseEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(r.t); c != nil && r.t.editing == "" {
		c.Focus(r.t)
	}
	switch {
	case e.Button == desktop.MouseButtonSecondary:
		if !r.t.pick.Has(r.i) {
			r.t.pick.One(r.i)
		}
	case e.Modifier&fyne.KeyModifierShift != 0:
		r.t.pick.Range(r.i)
	case e.Modifier&(fyne.KeyModifierControl|fyne.KeyModifierSuper) != 0:
		r.t.pick.Toggle(r.i)
	case !r.t.pick.Has(r.i):
		r.t.pick.One(r.i)
	}
	r.t.picked()
}

// MouseUp implements desktop.Mouseable.
func (r *row) MouseUp(*desktop.MouseEvent) {}

// Tapped implements fyne.Tappable: a click on one of several selected lines selects it alone.
func (r *row) Tapped(*fyne.PointEvent) {
	if modifiers() == 0 && r.t.pick.Has(r.i) {
		r.t.pick.One(r.i)
		r.t.picked()
	}
}

// DoubleTapped implements fyne.DoubleTappable.
func (r *row) DoubleTapped(*fyne.PointEvent) {
	if r.i < len(r.t.entries) && r.t.editing == "" {
		r.t.onOpen(r.t.entries[r.i])
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (r *row) TappedSecondary(e *fyne.PointEvent) {
	if r.t.onMenu != nil && r.i < len(r.t.entries) {
		if !r.t.pick.Has(r.i) {
			r.t.pick.One(r.i)
			r.t.picked()
		}
		r.t.onMenu(e.AbsolutePosition)
	}
}

// MouseIn, MouseMoved and MouseOut implement desktop.Hoverable.
func (r *row) MouseIn(*desktop.MouseEvent) { r.hovered = true; r.set(r.i) }

func (r *row) MouseMoved(*desktop.MouseEvent) {}

func (r *row) MouseOut() { r.hovered = false; r.set(r.i) }

// Dragged implements fyne.Draggable.
func (r *row) Dragged(e *fyne.DragEvent) {
	if r.t.onDrag != nil {
		r.t.onDrag(e.AbsolutePosition)
	}
}

// DragEnd implements fyne.Draggable.
func (r *row) DragEnd() {
	if r.t.onDrop != nil {
		r.t.onDrop(fyne.Position{})
	}
}
