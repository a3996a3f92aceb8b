package widgets

import (
	"image/color"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"
	"rsc.io/qr"

	"fairlead/app/style"
)

// TestQRIsSharpAndBlackOnWhiteInEveryThemeAndScale reads the modules from the window's picture.
func TestQRIsSharpAndBlackOnWhiteInEveryThemeAndScale(t *testing.T) {
	const link = "fairlead://pair?a=192.168.1.20:8788&a=[2001:db8::1]:8788&p=sha256:0123456789abcdef0123456789abcdef&t=abcdefghijkl"
	code, err := qr.Encode(link, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	a := test.NewTempApp(t)
	for _, mode := range []style.Mode{style.Light, style.Dark} {
		a.Settings().SetTheme(style.New(mode, 1))
		for _, scale := range []float32{1, 1.25, 2} {
			q, err := NewQR(link)
			if err != nil {
				t.Fatal(err)
			}
			w := test.NewTempWindow(t, q)
			w.SetPadded(false)
			w.Canvas().(software.WindowlessCanvas).SetScale(scale)
			w.Resize(fyne.NewSize(600, 600))
			pic := w.Canvas().Capture()
			side := int(q.MinSize().Width * scale)
			module := side / (code.Size + 2*qrQuiet)
			edge := (side - module*code.Size) / 2
			if edge < qrQuiet*module {
				t.Errorf("%v at %v: %d pixels of white around modules of %d", mode, scale, edge, module)
			}
			for y := -qrQuiet + 1; y < code.Size+qrQuiet-1; y++ {
				for x := -qrQuiet + 1; x < code.Size+qrQuiet-1; x++ {
					// its corners: one grey pixel would be a blurred edge
					for _, in := range [][2]int{{0, 0}, {module - 1, module - 1}} {
						got := color.GrayModel.Convert(pic.At(edge+x*module+in[0], edge+y*module+in[1])).(color.Gray).Y
						want := uint8(255)
						if code.Black(x, y) {
							want = 0
						}
						if got != want {
							t.Fatalf("%v at %v: module %d,%d is %d, want %d", mode, scale, x, y, got, want)
						}
					}
				}
			}
		}
	}
	if _, err := NewQR(strings.Repeat("x", 3000)); err == nil {
		t.Error("a text too long for any code was taken")
	}
}

func TestBesideMovesBelowInNarrowWindows(t *testing.T) {
	test.NewTempApp(t)
	left, right := NewRect("", "", 0), NewRect("", "", 0)
	left.SetMinSize(fyne.NewSize(200, 100))
	right.SetMinSize(fyne.NewSize(50, 60))
	box := Beside(20, 300, left, right)
	for _, c := range []struct {
		width, x, y, of, high float32
	}{{600, 220, 0, 380, 100}, {519, 0, 120, 519, 180}, {520, 220, 0, 300, 100}} {
		box.Resize(fyne.NewSize(c.width, 400))
		if right.Position() != fyne.NewPos(c.x, c.y) || right.Size().Width != c.of || box.MinSize().Height != c.high {
			t.Errorf("at %v it is at %v, %v, in all %v", c.width, right.Position(), right.Size(), box.MinSize())
		}
	}
}
