package pagetest

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/widgets"
)

// WheelReachesPage scrolls over every scrolling panel of a page, checks their number, and checks
// that the page moves: a panel must pass on scroll events that it does not need.
func WheelReachesPage(t *testing.T, o fyne.CanvasObject, panels int) {
	t.Helper()
	page := Scroll(t, o)
	var found []*widgets.Scroller
	Walk(o, func(o fyne.CanvasObject) bool {
		if p, ok := o.(*widgets.Scroller); ok {
			found = append(found, p)
		}
		return true
	})
	if len(found) != panels {
		t.Fatalf("%d panels, not %d", len(found), panels)
	}
	for i, p := range found {
		page.ScrollToTop()
		p.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -40)})
		if page.Offset.Y == 0 {
			t.Errorf("panel %d holds the wheel", i)
		}
	}
}

// Scroll finds the first scrolling part; the test fails if there is none.
func Scroll(t *testing.T, o fyne.CanvasObject) *container.Scroll {
	t.Helper()
	var found *container.Scroll
	Walk(o, func(o fyne.CanvasObject) bool {
		found, _ = o.(*container.Scroll)
		return found == nil
	})
	if found == nil {
		t.Fatal("nothing scrolls")
	}
	return found
}
