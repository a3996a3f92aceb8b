package widgets

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/look"
)

func TestAMenuHasRoomInItsWindow(t *testing.T) {
	b := NewButton("Model", "", nil)
	w := window(t, b, 480, 300)
	long := strings.Repeat("a-model-with-a-long-name/", 8)
	inner := fyne.NewMenuItem(long, nil)
	outer := fyne.NewMenuItem("Short", nil)
	outer.ChildMenu = fyne.NewMenu("", inner)
	items := []*fyne.MenuItem{fyne.NewMenuItem(long, nil), outer}
	ShowMenu(b, items)
	menu := w.Canvas().Overlays().Top()
	if menu == nil {
		t.Fatal("no menu")
	}
	for _, i := range []*fyne.MenuItem{items[0], inner} {
		if width := measure(i.Label, look.Size("text"), fyne.TextStyle{}).Width; width > 480-menuSides || !strings.HasSuffix(i.Label, "…") {
			t.Errorf("%q is %v wide", i.Label, width)
		}
	}
	if outer.Label != "Short" {
		t.Errorf("%q", outer.Label)
	}
}

func TestASelectHasTheBorderOfAField(t *testing.T) {
	s := NewSelect([]string{"One", "Two"}, nil)
	s.SetSelected("One")
	img := window(t, s, 200, 36).Canvas().Capture()
	for _, x := range []int{0, 1} { // the painter puts a stroke up to a dot off its place
		if !far(img.At(x, 18), look.Color("inputBackground")) {
			continue
		}
		return
	}
	t.Error("nothing tells it from the page")
}
