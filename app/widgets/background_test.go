package widgets

import (
	"image/color"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/style"
	"fairlead/app/widgets/widgettest"
)

func TestBackgroundLooksLikeARectangle(t *testing.T) {
	for _, line := range []fyne.ThemeColorName{"", style.ColorBad} {
		g, r := NewBackground(style.ColorSelected, line, style.Corner), NewRect(style.ColorSelected, line, style.Corner)
		a, b := widgettest.Window(t, g, 90, 70).Canvas().Capture(), widgettest.Window(t, r, 90, 70).Canvas().Capture()
		other := 0
		for y := range 70 {
			for x := range 90 {
				if far(a.At(x, y), b.At(x, y)) {
					other++
				}
			}
		}
		if other > 16 { // the corners are rounded similarly, not identically
			t.Errorf("with line %q %d dots differ", line, other)
		}
	}
}

func far(a, b color.Color) bool {
	r1, g1, b1, _ := a.RGBA()
	r2, g2, b2, _ := b.RGBA()
	d := func(x, y uint32) uint32 { return max(x, y) - min(x, y) }
	return d(r1, r2)+d(g1, g2)+d(b1, b2) > 0x3000
}

// TestBackgroundCoversTheSoftEdgesOfItsEnds checks edges that this test's painter draws without
// antialiasing.
func TestBackgroundCoversTheSoftEdgesOfItsEnds(t *testing.T) {
	// a low one has no straight edge
	for height, covered := range map[float32]bool{70: true, 8: false} {
		g := NewBackground(style.ColorSelected, style.ColorBad, style.Corner)
		widgettest.Window(t, g, 90, height)
		r := test.WidgetRenderer(g).(*backgroundRenderer)
		upper, lower := r.band[1], r.band[3]
		for _, p := range []*Raster{r.middle, r.left, r.right} {
			from, to := p.Image.Position().Y, p.Image.Position().Y+p.Image.Size().Height
			if above, below := upper.Position().Y+upper.Size().Height-from, to-lower.Position().Y; (above == 1) != covered || (below == 1) != covered {
				t.Errorf("%v high: %v and %v over the ends", height, above, below)
			}
		}
	}
}

func TestBackgroundHasNoHoleWhenItIsLow(t *testing.T) {
	g := NewBackground(style.ColorSelected, style.ColorBad, style.Corner)
	img := widgettest.Window(t, g, 40, 8).Canvas().Capture()
	if far(img.At(20, 4), style.Color(style.ColorSelected)) {
		t.Errorf("its middle is %v", img.At(20, 4))
	}
}
