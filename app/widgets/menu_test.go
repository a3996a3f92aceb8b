package widgets

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
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

func TestASelectHasTheBorderOfAField(t *testing.T) {
	s := NewSelect([]string{"One", "Two"}, nil)
	s.SetSelected("One")
	widgettest.Window(t, s, 200, 36)
	border := test.WidgetRenderer(s).(*selectRenderer).border
	if border.Size() != s.Size() || border.Line != "inputBorder" || !slices.Contains(test.WidgetRenderer(s).Objects(), fyne.CanvasObject(border)) {
		t.Errorf("its border is %v of %v", border.Size(), s.Size())
	}
}

func TestMenusShowShortcutsAtACommonEdge(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(style.New(style.Light, 1))
	key := func(name fyne.KeyName, mods fyne.KeyModifier) fyne.Shortcut {
		return &desktop.CustomShortcut{KeyName: name, Modifier: mods}
	}
	items := []*fyne.MenuItem{
		{Label: "Open", Shortcut: key(fyne.KeyReturn, 0)},
		{Label: "Plain"},
		{Label: "Archive 12 chats", Shortcut: key(fyne.KeyE, fyne.KeyModifierShortcutDefault)},
		{Label: "Next unread chat", Shortcut: key(fyne.KeyDown, fyne.KeyModifierAlt|fyne.KeyModifierShift)},
	}
	labelShortcuts(items)
	edge := MeasureText(items[3].Label, style.Size("text"), fyne.TextStyle{}).Width
	for i, want := range map[int]string{0: "Enter", 2: ShortcutName("E", false), 3: "Alt Shift ↓"} {
		got := items[i].Label
		if width := MeasureText(got, style.Size("text"), fyne.TextStyle{}).Width; !strings.HasSuffix(got, "  "+want) || max(width-edge, edge-width) > 4 || items[i].Shortcut != nil {
			t.Errorf("%q is %v wide, want %v", got, width, edge)
		}
	}
	if items[1].Label != "Plain" {
		t.Errorf("without a shortcut: %q", items[1].Label)
	}
}
