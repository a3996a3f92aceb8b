package widgets

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Select is Fyne's select widget with the border of other fields: without it, the widget is hard to
// see on a light page.
type Select struct{ widget.Select }

// NewSelect creates one; changed may be nil.
func NewSelect(options []string, changed func(string)) *Select {
	s := &Select{}
	s.Options, s.OnChanged = options, changed
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer implements fyne.Widget.
func (s *Select) CreateRenderer() fyne.WidgetRenderer {
	r := &selectRenderer{WidgetRenderer: s.Select.CreateRenderer(), border: NewRect("", "inputBorder", style.Corner)}
	r.objects = slices.Concat(r.WidgetRenderer.Objects(), []fyne.CanvasObject{r.border})
	return r
}

type selectRenderer struct {
	fyne.WidgetRenderer
	border  *Rect
	objects []fyne.CanvasObject
}

func (r *selectRenderer) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	r.border.Resize(size)
}

func (r *selectRenderer) Refresh() {
	r.WidgetRenderer.Refresh()
	r.border.Refresh()
}

func (r *selectRenderer) Objects() []fyne.CanvasObject { return r.objects }
