package fonts_test

import (
	"bytes"
	"image/color"
	"image/png"
	"runtime"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"fairlead/app/fonts"
	"fairlead/app/style"
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
	test.NewTempApp(t).Settings().SetTheme(style.New(style.Light, 1))
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

// picture returns the picture of a text as PNG.
func picture(t *testing.T, text string, s fyne.TextStyle) []byte {
	t.Helper()
	line := canvas.NewText(text, color.Black)
	line.TextStyle, line.TextSize = s, 20
	w := test.NewTempWindow(t, line)
	var b bytes.Buffer
	if err := png.Encode(&b, w.Canvas().Capture()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSharedFontsDrawTheSame compares what is drawn with shared fonts and with Fyne's own, and then
// the memory that changes of the theme take.
func TestSharedFontsDrawTheSame(t *testing.T) {
	a := test.NewTempApp(t)
	a.Settings().SetTheme(style.New(style.Light, 1))
	t.Cleanup(func() { fonts.Share(nil) })
	styles := map[string]fyne.TextStyle{
		"regular": {}, "bold": {Bold: true}, "italic": {Italic: true}, "bold italic": {Bold: true, Italic: true},
		"code": {Monospace: true}, "bold code": {Monospace: true, Bold: true}, "underlined": {Underline: true}, "tabs": {TabWidth: 3},
	}
	const text = "Größe a → b ✓\tx 😀 12 é Ω ."
	before := map[string][]byte{}
	for name, s := range styles {
		before[name] = picture(t, text, s)
	}
	a.Settings().SetTheme(style.New(style.Light, 1))
	var waiting []func()
	fonts.Share(func(share func()) { waiting = append(waiting, share) })
	draw := func() {
		for name, s := range styles {
			if !bytes.Equal(picture(t, text, s), before[name]) {
				t.Errorf("%s looks different with shared fonts", name)
			}
		}
		for _, share := range waiting {
			share()
		}
		waiting = nil
	}
	draw()
	draw()
	if ink(t, "\U0010fffd", 0) == 0 {
		t.Error("a character that no font has is not drawn")
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	start := heap()
	for range 3 {
		a.Settings().SetTheme(style.New(style.Light, 1))
		draw()
		draw()
	}
	if grown := heap() - start; grown > 3<<20 {
		t.Errorf("three changes of the theme keep %d bytes; all fonts have 10 MB; want at most %d", grown, 3<<20)
	}
}
