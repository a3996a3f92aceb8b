package widgets

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/style"
	"fairlead/app/widgets/widgettest"
)

func TestAMenuHasRoomInItsWindow(t *testing.T) {
	b := NewButton("Model", "", nil)
	w := widgettest.Window(t, b, 480, 300)
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
		if width := MeasureText(i.Label, style.Size("text"), fyne.TextStyle{}).Width; width > 480-menuMargin || !strings.HasSuffix(i.Label, "…") {
			t.Errorf("%q is %v wide", i.Label, width)
		}
	}
	if outer.Label != "Short" {
		t.Errorf("%q", outer.Label)
	}
}

// TestMenuOpenedByKeyHighlightsItsFirstLine: Enter then chooses that line. A menu opened by mouse
// has no line that Enter would choose.
func TestMenuOpenedByKeyHighlightsItsFirstLine(t *testing.T) {
	for name, open := range map[string]func(*Button){
		"key":   func(b *Button) { b.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn}) },
		"space": func(b *Button) { b.TypedRune(' ') },
		"mouse": func(b *Button) { b.Tapped(&fyne.PointEvent{}) },
	} {
		t.Run(name, func(t *testing.T) {
			chosen := 0
			b := NewMenuButton("Model", "", func() []*fyne.MenuItem {
				return []*fyne.MenuItem{fyne.NewMenuItem("One", func() { chosen++ }), fyne.NewMenuItem("Two", func() { chosen += 10 })}
			})
			w := widgettest.Window(t, b, 480, 300)
			open(b)
			w.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
			if want := Choose(name == "mouse", 0, 1); chosen != want {
				t.Errorf("Enter chose %d, want %d", chosen, want)
			}
		})
	}
}

func TestASelectHasTheBorderOfAField(t *testing.T) {
	s := NewSelect([]string{"One", "Two"}, nil)
	s.SetSelected("One")
	widgettest.Window(t, s, 200, 36)
	border := test.WidgetRenderer(s).(*selectRenderer).border
	if border.Size() != s.Size() || border.Line != "inputBorder" || !slices.Contains(test.WidgetRenderer(s).Objects(), fyne.CanvasObject(border)) {
		t.Errorf("its border is %v of %v", border.Size(), s.Size())
	}
}
