package widgets

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
)

func TestRevealScrollsOnlyToTheFocusedWidget(t *testing.T) {
	test.NewTempApp(t)
	list := container.NewVBox()
	for range 40 {
		list.Add(NewButton("One", "", nil))
	}
	below := NewButton("Below", "", nil)
	s := NewVScroll(list)
	w := test.NewTempWindow(t, Border(nil, below, nil, nil, s))
	w.Resize(fyne.NewSize(200, 300))
	seen := func(o fyne.CanvasObject) bool {
		d := fyne.CurrentApp().Driver()
		y := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(s).Y
		return y >= 0 && y+o.Size().Height <= s.Size().Height
	}
	for _, i := range []int{39, 0, 20} {
		ScrollIntoView(list.Objects[i])
		if !seen(list.Objects[i]) {
			t.Errorf("button %d is out of view, at %v", i, s.Offset)
		}
	}
	at := s.Offset
	ScrollIntoView(list.Objects[20])
	ScrollIntoView(below)
	if s.Offset != at {
		t.Errorf("it scrolled from %v to %v for what is in view, or beside it", at, s.Offset)
	}
}
