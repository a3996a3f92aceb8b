package widgets

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"fairlead/app/style"
)

func TestEmptyStateIsCentredAndComplete(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(style.New(style.Light, 1))
	empty := NewEmptyState("folder", "This machine has no folders yet", "It shows them as soon as it is connected again, which may take a while after it was turned on.")
	w := test.NewTempWindow(t, container.NewCenter(empty))
	for _, width := range []float32{880, 480} {
		w.Resize(fyne.NewSize(width, 400))
		var bottom float32
		walk(empty, func(o fyne.CanvasObject) {
			if text, ok := o.(*Text); ok {
				full := fyne.MeasureText(text.Text, style.Size(text.SizeName), text.Style).Width
				if text.Size().Width < full {
					t.Errorf("at %v the heading has %v of the %v it needs", width, text.Size().Width, full)
				}
			}
			if p, ok := o.(*Paragraph); ok {
				bottom = p.Position().Y + p.MinSize().Height
			}
		})
		if s := empty.Size(); s.Width < minEmptyWidth || s.Height < bottom {
			t.Errorf("at %v it has %v, its text ends at %v", width, s, bottom)
		}
	}
}

func walk(o fyne.CanvasObject, visit func(fyne.CanvasObject)) {
	visit(o)
	if c, ok := o.(*fyne.Container); ok {
		for _, o := range c.Objects {
			walk(o, visit)
		}
	}
}
