package widgets

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
)

// rowList shows a list of n rows below a heading.
func rowList(t *testing.T, n int) *RowList {
	t.Helper()
	l := NewRowList()
	l.Item = func(i int) SidebarItem { return SidebarItem{Title: fmt.Sprintf("Row %d", i), Selected: i == 2} }
	l.Set(rowsFrom(1, n))
	w := test.NewTempWindow(t, l)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(240, 300))
	return l
}

func rowsFrom(first, n int) []ListRow {
	rows := []ListRow{{Heading: NewSection("HEAD")}}
	for i := range n {
		rows = append(rows, ListRow{ID: fmt.Sprint(first + i)})
	}
	return rows
}

func shownRows(l *RowList) (list []string) {
	for _, part := range strings.Split(test.RenderObjectToMarkup(l), ">Row ")[1:] {
		title, _, _ := strings.Cut(part, "<")
		list = append(list, title)
	}
	return list
}

func TestRowListDrawsVisibleRowsAndReusesThem(t *testing.T) {
	l := rowList(t, 3000)
	if got := shownRows(l); len(got) > 12 || got[0] != "1" {
		t.Errorf(`%d rows are drawn, from %s; want at most 12 and "1"`, len(got), got[0])
	}
	l.scroller.MoveTo(fyne.NewPos(0, l.tops[1000]))
	if got := shownRows(l); len(got) > 12 || got[0] != "1000" {
		t.Errorf(`%d rows are drawn, from %s; want at most 12 and "1000"`, len(got), got[0])
	}
	if made := len(l.lines) + len(l.free); made > 30 {
		t.Errorf("%d lines were made, want at most 30", made)
	}
}

func TestClickHasTheKeysOfItsMouseButton(t *testing.T) {
	l := rowList(t, 3)
	var got []fyne.KeyModifier
	l.OnTap = func(_ int, keys fyne.KeyModifier) { got = append(got, keys) }
	line := l.lines[1]
	for _, keys := range []fyne.KeyModifier{fyne.KeyModifierControl, 0} {
		line.MouseDown(&desktop.MouseEvent{Modifier: keys})
		line.MouseUp(&desktop.MouseEvent{})
		line.Tapped(&fyne.PointEvent{})
	}
	if want := []fyne.KeyModifier{fyne.KeyModifierControl, 0}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRowListMovesItsCursorOverHeadings(t *testing.T) {
	l := rowList(t, 40)
	l.FocusGained()
	if l.Cursor() != 2 {
		t.Errorf("the cursor starts on row %d, want the selected one, 2", l.Cursor())
	}
	var keys []string
	l.OnKey = func(_ int, e *fyne.KeyEvent) { keys = append(keys, string(e.Name)) }
	for _, c := range []struct {
		key  fyne.KeyName
		want int
	}{
		{fyne.KeyUp, 1}, {fyne.KeyUp, 1}, {fyne.KeyEnd, 40}, {fyne.KeyDown, 40}, {fyne.KeyHome, 1}, {fyne.KeyPageDown, 11}, {fyne.KeyDelete, 11},
	} {
		l.TypedKey(&fyne.KeyEvent{Name: c.key})
		if l.Cursor() != c.want {
			t.Errorf("after %s the cursor is on %d, want %d", c.key, l.Cursor(), c.want)
		}
	}
	if !slices.Equal(keys, []string{string(fyne.KeyDelete)}) {
		t.Errorf("other keys: %q", keys)
	}
	l.Set(rowsFrom(0, 41)) // a row above
	if l.Cursor() != 12 {
		t.Errorf("after a new row above the cursor is on %d, want 12", l.Cursor())
	}
	l.Set(rowsFrom(0, 5))
	if l.Cursor() != 5 {
		t.Errorf("after its row is gone the cursor is on %d, want the last", l.Cursor())
	}
	l.Set(nil)
	if l.Cursor() != -1 {
		t.Errorf("the cursor of an empty list is on %d, want -1", l.Cursor())
	}
}

func TestMarkedTextIsCutToItsWidth(t *testing.T) {
	m := NewMarkedText("one "+MarkStart+"two"+MarkEnd+" three four five six seven eight nine", "", "text")
	w := test.NewTempWindow(t, m)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(120, 20))
	got := test.RenderObjectToMarkup(m)
	if !strings.Contains(got, ">two<") || !strings.Contains(got, "…<") || strings.ContainsAny(got, MarkStart+MarkEnd) || !strings.Contains(got, "<rectangle") {
		t.Errorf(`got %s; want ">two<" in it, "…<" in it, no %v and "<rectangle" in it`, got, MarkStart+MarkEnd)
	}
}

func TestAskTextReturnsTheTextOnce(t *testing.T) {
	w := test.NewTempWindow(t, NewRect("", "", 0))
	var got []string
	AskText(w.Canvas(), "New tag", "Add tag", func(text string) { got = append(got, text) })
	field := w.Canvas().Focused().(*NameField)
	field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	field.SetText(" work ")
	field.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if !slices.Equal(got, []string{"work"}) || w.Canvas().Overlays().Top() != nil {
		t.Errorf("got %q; want %v and no Canvas.Overlays.Top", got, []string{"work"})
	}
}
