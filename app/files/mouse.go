package files

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// MouseDown implements desktop.Mouseable: pressing selects a line at once.
func (r *row) MouseDown(e *desktop.MouseEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(r.table); c != nil && r.table.renaming == "" {
		c.Focus(r.table)
	}
	switch {
	case e.Button == desktop.MouseButtonSecondary:
		if !r.table.selection.Has(r.index) {
			r.table.selection.One(r.index)
		}
	case e.Modifier&fyne.KeyModifierShift != 0:
		r.table.selection.Range(r.index)
	case e.Modifier&(fyne.KeyModifierControl|fyne.KeyModifierSuper) != 0:
		r.table.selection.Toggle(r.index)
	case !r.table.selection.Has(r.index):
		r.table.selection.One(r.index)
	}
	r.table.selectionChanged()
}

// MouseUp implements desktop.Mouseable.
func (r *row) MouseUp(*desktop.MouseEvent) {}

// Tapped implements fyne.Tappable: a click on one of several selected lines selects it alone.
func (r *row) Tapped(*fyne.PointEvent) {
	if modifiers() == 0 && r.table.selection.Has(r.index) {
		r.table.selection.One(r.index)
		r.table.selectionChanged()
	}
}

// DoubleTapped implements fyne.DoubleTappable.
func (r *row) DoubleTapped(*fyne.PointEvent) {
	if r.index < len(r.table.entries) && r.table.renaming == "" {
		r.table.onOpen(r.table.entries[r.index])
	}
}

// TappedSecondary implements fyne.SecondaryTappable.
func (r *row) TappedSecondary(e *fyne.PointEvent) {
	if r.table.onMenu != nil && r.index < len(r.table.entries) {
		if !r.table.selection.Has(r.index) {
			r.table.selection.One(r.index)
			r.table.selectionChanged()
		}
		r.table.onMenu(e.AbsolutePosition)
	}
}

// MouseIn, MouseMoved and MouseOut implement desktop.Hoverable.
func (r *row) MouseIn(*desktop.MouseEvent) { r.hovered = true; r.show(r.index) }

func (r *row) MouseMoved(*desktop.MouseEvent) {}

func (r *row) MouseOut() { r.hovered = false; r.show(r.index) }

// Dragged implements fyne.Draggable.
func (r *row) Dragged(e *fyne.DragEvent) {
	if r.table.onDrag != nil {
		r.table.onDrag(e.AbsolutePosition)
	}
}

// DragEnd implements fyne.Draggable.
func (r *row) DragEnd() {
	if r.table.onDrop != nil {
		r.table.onDrop(fyne.Position{})
	}
}
