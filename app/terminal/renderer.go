package terminal

import (
	"image"

	"fyne.io/fyne/v2"

	"fairlead/app/widgets"
)

// displayRenderer has a picture for each row, so that only those that changed are drawn.
type displayRenderer struct {
	view    *viewport
	minSize func() fyne.Size
	ground  *widgets.Rect
	rows    []*widgets.Raster
}

func (r *displayRenderer) redraw(i int) {
	if i < len(r.rows) {
		r.rows[i].Redraw()
	}
}

// Refresh implements fyne.WidgetRenderer.
func (r *displayRenderer) Refresh() {
	r.rows = r.rows[:min(len(r.rows), len(r.view.lines))]
	for i := len(r.rows); i < len(r.view.lines); i++ {
		r.rows = append(r.rows, widgets.NewRaster(func(w, h int) image.Image { return r.view.paint(i, w, h) }))
	}
	r.Layout(r.view.size)
	for _, row := range r.rows {
		row.Redraw()
	}
	r.ground.Refresh()
}

// Layout implements fyne.WidgetRenderer.
func (r *displayRenderer) Layout(s fyne.Size) {
	r.ground.Resize(s)
	for i, row := range r.rows {
		row.Place(fyne.NewPos(inset, inset+float32(i)*r.view.cell.Height), fyne.NewSize(max(s.Width-2*inset, 0), r.view.cell.Height))
	}
}

// MinSize implements fyne.WidgetRenderer.
func (r *displayRenderer) MinSize() fyne.Size { return r.minSize() }

// Objects implements fyne.WidgetRenderer.
func (r *displayRenderer) Objects() []fyne.CanvasObject {
	objects := []fyne.CanvasObject{r.ground}
	for _, row := range r.rows {
		objects = append(objects, row.Image)
	}
	return objects
}

// Destroy implements fyne.WidgetRenderer.
func (r *displayRenderer) Destroy() {}
