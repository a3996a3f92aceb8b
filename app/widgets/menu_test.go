package widgets

import (
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
		t.Errorf("got %q, want %q", outer.Label, "Short")
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
			w.Canvas().Focus(b)
			open(b)
			w.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
			if want := Choose(name == "mouse", 0, 1); chosen != want {
				t.Errorf("Enter chose %d, want %d", chosen, want)
			}
		})
	}
}

func TestMenuIsUsedByKeys(t *testing.T) {
	var chosen []string
	item := func(label string) *fyne.MenuItem {
		return fyne.NewMenuItem(label, func() { chosen = append(chosen, label) })
	}
	disabled := item("Disabled")
	disabled.Disabled = true
	more := fyne.NewMenuItem("More", nil)
	more.ChildMenu = fyne.NewMenu("", item("Inner one"), item("Inner two"))
	items := []*fyne.MenuItem{item("First"), disabled, fyne.NewMenuItemSeparator(), more, item("Last")}
	b := NewButton("Menu", "", nil)
	w := widgettest.Window(t, b, 480, 300)
	for keys, want := range map[string]string{
		"Down Return": "First", "Down Down Down Return": "Last", "Up Return": "Last", "Down Down Right Down Return": "Inner two",
		"Down Down Return Return": "Inner one", "Down Down Right Left Down Return": "Last", "Escape": "", "Return Escape": "",
	} {
		chosen = nil
		ShowMenu(b, items)
		menu := w.Canvas().Focused()
		for k := range strings.FieldsSeq(keys) {
			menu.TypedKey(&fyne.KeyEvent{Name: fyne.KeyName(k)})
		}
		if got := strings.Join(chosen, " "); got != want || w.Canvas().Overlays().Top() != nil {
			t.Errorf("%s chose %q, want %q; still open: %v", keys, got, want, w.Canvas().Overlays().Top() != nil)
		}
	}
	chosen = nil
	ShowMenu(b, items)
	w.Canvas().Focused().TypedRune('l')
	w.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if strings.Join(chosen, " ") != "Last" {
		t.Errorf("the letter l chose %q", chosen)
	}
}

func TestMenuIsUsedByMouse(t *testing.T) {
	chosen := 0
	inner := fyne.NewMenuItem("Inner", func() { chosen++ })
	more := fyne.NewMenuItem("More", nil)
	more.ChildMenu = fyne.NewMenu("", inner)
	items := []*fyne.MenuItem{more, fyne.NewMenuItem("Other", func() {})}
	b := NewButton("Menu", "", nil)
	w := widgettest.Window(t, b, 480, 300)
	ShowMenu(b, items)
	m := w.Canvas().Overlays().Top().(*popupMenu)
	if h := m.levels[0].rows[0].Size().Height; h != menuRowHeight {
		t.Errorf("a row is %v high, want %v", h, menuRowHeight)
	}
	m.levels[0].rows[0].MouseIn(nil)
	m.levels[0].rows[1].MouseIn(nil)
	if len(m.levels) != 1 {
		t.Error("the submenu stays open")
	}
	m.levels[0].rows[0].MouseIn(nil)
	test.Tap(m.levels[1].rows[0])
	if chosen != 1 || w.Canvas().Overlays().Top() != nil {
		t.Errorf("chosen %d times; still open: %v", chosen, w.Canvas().Overlays().Top() != nil)
	}
	ShowMenu(b, items)
	test.TapCanvas(w.Canvas(), fyne.NewPos(470, 290))
	if w.Canvas().Overlays().Top() != nil {
		t.Error("a click beside the menu leaves it open")
	}
}

func TestMenuStaysInItsWindow(t *testing.T) {
	var items []*fyne.MenuItem
	for range 40 {
		more := fyne.NewMenuItem("A line with a submenu", nil)
		more.ChildMenu = fyne.NewMenu("", fyne.NewMenuItem("A line of the submenu", nil))
		items = append(items, more)
	}
	b := NewButton("Menu", "", nil)
	w := widgettest.Window(t, b, 480, 300)
	ShowMenuAt(b, fyne.NewPos(470, 290), items)
	m := w.Canvas().Overlays().Top().(*popupMenu)
	m.TypedKey(&fyne.KeyEvent{Name: fyne.KeyUp})
	m.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	for i, l := range m.levels {
		from, to := l.box.Position(), l.box.Position().Add(l.box.Size())
		if from.X < 0 || from.Y < 0 || to.X > 480 || to.Y > 300 {
			t.Errorf("level %d is at %v to %v", i, from, to)
		}
	}
	w.Resize(fyne.NewSize(600, 300))
	if w.Canvas().Overlays().Top() != nil {
		t.Error("the menu stays where it was in a window of another size")
	}
}

func TestSelectOpensTheMenuOfOtherButtons(t *testing.T) {
	var got string
	s := NewSelect([]string{"One", "Two"}, nil)
	s.SetSelected("One")
	s.OnChanged = func(o string) { got = o }
	w := widgettest.Window(t, s, 200, 200)
	w.Canvas().Focus(s)
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	m, ok := w.Canvas().Overlays().Top().(*popupMenu)
	if !ok {
		t.Fatalf("Down opened %T, want a menu", w.Canvas().Overlays().Top())
	}
	if rows := m.last().rows; !rows[0].item.Checked || rows[1].item.Checked {
		t.Error("the menu does not mark the selected line")
	}
	m.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	m.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if got != "Two" || s.SelectedIndex() != 1 {
		t.Errorf(`Enter on the second line selected %q, index %d; want "Two" and 1`, got, s.SelectedIndex())
	}
}

func TestKeysAreNamedAsOnTheKeyboard(t *testing.T) {
	key := func(name fyne.KeyName, mods fyne.KeyModifier) fyne.Shortcut {
		return &desktop.CustomShortcut{KeyName: name, Modifier: mods}
	}
	for want, s := range map[string]fyne.Shortcut{
		"Enter":                  key(fyne.KeyReturn, 0),
		"F2":                     key(fyne.KeyF2, 0),
		ShortcutName("E", false): key(fyne.KeyE, fyne.KeyModifierShortcutDefault),
		ShortcutName("F", true):  key(fyne.KeyF, fyne.KeyModifierShortcutDefault|fyne.KeyModifierShift),
		"Alt Shift ↓":            key(fyne.KeyDown, fyne.KeyModifierAlt|fyne.KeyModifierShift),
		"":                       nil,
	} {
		if got := KeyName(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
