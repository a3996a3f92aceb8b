package widgets

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/widgets/widgettest"
)

func TestPictureIsShownWholeAndEnlarged(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1600, 800))); err != nil {
		t.Fatal(err)
	}
	z := NewZoom(fyne.NewStaticResource("a.png", b.Bytes()))
	w := widgettest.Window(t, z.Scroller, 400, 400)
	z.Scroller.Resize(fyne.NewSize(400, 400))
	if z.Size() != fyne.NewSize(400, 400) {
		t.Fatalf("at first it has %v, want %v", z.Size(), fyne.NewSize(400, 400))
	}
	test.TapAt(z, fyne.NewPos(300, 200)) // three quarters of its width, half of its height
	scale := w.Canvas().Scale()
	if want := fyne.NewSize(1600/scale, 800/scale); z.Size() != want {
		t.Fatalf("after a tap it has %v, want %v", z.Size(), want)
	}
	view := z.Scroller.viewSize(z.Scroller.Size())
	if middle := z.Scroller.offset.X + view.Width/2; middle < 1190/scale || middle > 1210/scale {
		t.Errorf("what was tapped is not in the middle, but %v", middle)
	}
	at := z.Scroller.offset
	z.Dragged(&fyne.DragEvent{Dragged: fyne.NewDelta(50, 0)})
	if z.Scroller.offset.X != at.X-50 {
		t.Errorf("dragged from %v to %v", at, z.Scroller.offset)
	}
	near := z.Size()
	if least := z.Scroller.MinSize(); least.Height > 200 || least.Width > 200 {
		t.Errorf("its window would have at least %v", least)
	}
	z.Step(1)
	if z.Size().Width <= near.Width {
		t.Error("a step nearer shows no more")
	}
	z.Step(-20)
	if z.factor != 0 || z.Size() != fyne.NewSize(400, 400) {
		t.Errorf("far away it has %v; want %v", z.Size(), fyne.NewSize(400, 400))
	}
	z.Step(100)
	if z.factor != maxZoom {
		t.Errorf("the nearest is %v, want %v", z.factor, maxZoom)
	}
	z.Step(0)
	if z.factor != 0 {
		t.Error("it is not shown whole again")
	}
}

func TestAPictureThatCannotBeReadStaysAsItIs(t *testing.T) {
	z := NewZoom(fyne.NewStaticResource("a.svg", []byte("<svg/>")))
	widgettest.Window(t, z.Scroller, 200, 200)
	z.Scroller.Resize(fyne.NewSize(200, 200))
	z.Step(2)
	test.Tap(z)
	if z.factor != 0 {
		t.Errorf("factor: got %v, want 0", z.factor)
	}
}
