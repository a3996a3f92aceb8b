package style

import (
	"image/color"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
)

// ink returns the number of pixels of a text that are drawn right of a point.
func ink(t *testing.T, text string, from float32) (n int) {
	t.Helper()
	line := canvas.NewText(text, color.Black)
	line.TextSize = 20
	w := test.NewTempWindow(t, container.NewWithoutLayout(line))
	w.SetPadded(false)
	line.Resize(fyne.NewSize(200, 40))
	w.Resize(fyne.NewSize(200, 40))
	img := w.Canvas().Capture()
	ground := img.At(img.Bounds().Max.X-1, img.Bounds().Max.Y-1)
	for x := int(from); x < img.Bounds().Max.X; x++ {
		for y := range img.Bounds().Max.Y {
			if img.At(x, y) != ground {
				n++
			}
		}
	}
	return n
}

func TestNothingIsDrawnAfterAnArrow(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(New(Light, 1))
	for _, arrow := range []string{"→", "←", "↑", "↓", "⌘"} {
		t.Run(arrow, func(t *testing.T) {
			width := fyne.MeasureText(arrow, 20, fyne.TextStyle{}).Width
			if ink(t, arrow+" ", 0) == 0 {
				t.Errorf("%s is not drawn", arrow)
			}
			if n := ink(t, arrow+"  ", width+2); n != 0 {
				t.Errorf("%d dots are drawn in the space after %s", n, arrow)
			}
		})
	}
}
