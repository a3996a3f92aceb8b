package wheel

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"fairlead/app/code"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// notch is one step of a wheel downwards.
var notch = fyne.NewDelta(0, -75)

// onPage shows an object on a long page, and returns the page and the object's middle.
func onPage(t *testing.T, o fyne.CanvasObject) (c fyne.Canvas, page *container.Scroll, middle fyne.Position) {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(style.New(style.Light, 1))
	below := widgets.NewRect("", "", 0)
	below.SetMinSize(fyne.NewSize(100, 3000))
	page = widgets.NewForm(o, below)
	w := test.NewTempWindow(t, page)
	w.Resize(fyne.NewSize(500, 400))
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
	return w.Canvas(), page, at.AddXY(o.Size().Width/2, o.Size().Height/2)
}

func TestWheelScrollsThePageOverControls(t *testing.T) {
	field := widgets.NewEntry()
	field.SetText(strings.Repeat("a long line ", 50))
	short, panel := widgets.NewTextArea(3, ""), code.NewPanel(0)
	panel.SetText("one line")
	list := widgets.NewItemList(nil)
	list.Set([]widgets.ListItem{{Title: "one"}})
	for name, o := range map[string]fyne.CanvasObject{
		"field": field, "password": widgets.NewPasswordEntry(), "search": widgets.NewSearchField("Search", "Ctrl K"), "text": short,
		"menu": widgets.NewSelect([]string{"One", "Two"}, nil), "code": panel, "list": list,
	} {
		t.Run(name, func(t *testing.T) {
			c, page, at := onPage(t, o)
			scrollAt(c, at, notch)
			if page.Offset.Y != 75 {
				t.Errorf("the page moved by %v, want 75", page.Offset.Y)
			}
		})
	}
}

func TestWheelScrollsATextWhileItCan(t *testing.T) {
	text := widgets.NewTextArea(3, "")
	text.SetText(strings.Repeat("line\n", 10))
	c, page, at := onPage(t, text)
	for range 3 {
		scrollAt(c, at, notch)
	}
	before := page.Offset.Y
	for range 10 {
		scrollAt(c, at, notch)
	}
	if before != 0 || page.Offset.Y == 0 {
		t.Errorf("the page moved by %v while the text could scroll, and by %v afterwards", before, page.Offset.Y)
	}
}

func TestWheelScrollsOverAnOverlay(t *testing.T) {
	c, page, _ := onPage(t, widgets.NewEntry())
	below := widgets.NewRect("", "", 0)
	below.SetMinSize(fyne.NewSize(100, 3000))
	dialog := widgets.NewForm(widgets.NewEntry(), below)
	c.Overlays().Add(dialog)
	dialog.Resize(c.Size())
	scrollAt(c, fyne.NewPos(100, 40), notch)
	if page.Offset.Y != 0 || dialog.Offset.Y != 75 {
		t.Errorf("the page moved by %v and the dialog by %v, want 0 and 75", page.Offset.Y, dialog.Offset.Y)
	}
}

func TestWheelScrollsThreeLines(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(style.New(style.Light, 1))
	for n, want := range map[float64]float64{0: 0, 1: 3, -1: -3, 1.5: 4.5, 4: 9, -4: -9, 20: 20, 0.13: 0.13, -0.07: -0.07} {
		if got := wheelSteps(n); got != want {
			t.Errorf("%v steps became %v, want %v", n, got, want)
		}
	}
}
