package widgets

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"fairlead/app/golden"
	"fairlead/app/style"
	"fairlead/app/widgets/widgettest"
)

func TestToastUndoesWithinItsTime(t *testing.T) {
	undone := 0
	toast := NewToast(func() {})
	widgettest.Window(t, toast, 400, 60)
	start := time.Unix(100, 0)
	toast.ShowMessage("Deleted", func() { undone++ }, start, start.Add(10*time.Second))
	toast.Tick(start.Add(9 * time.Second))
	test.Tap(toast.undo)
	if undone != 1 || toast.Visible() {
		t.Fatal("Undo should undo once and close the bar")
	}
	toast.ShowMessage("Deleted", func() { undone++ }, start, start.Add(10*time.Second))
	toast.Tick(start.Add(10 * time.Second))
	if toast.Visible() {
		t.Error("the bar should go when its time is over")
	}
}

func TestALongMessageWrapsAndIsNotCut(t *testing.T) {
	height := func(text string) float32 {
		toast := NewToast(func() {})
		widgettest.Window(t, toast, 420, 120)
		toast.ShowMessage(text, nil, time.Unix(100, 0), time.Unix(101, 0))
		return Fit(toast, 420)
	}
	line := height("Deleted.")
	if lines := height(strings.Repeat("Someone new wants to write to the agent. ", 4)); lines < 1.5*line {
		t.Errorf("a long message is %g high, a short one %g", lines, line)
	}
}

func TestSearchFieldKeys(t *testing.T) {
	s := NewSearchField("Search", "Ctrl K")
	moved, cancelled := 0, false
	s.OnMove = func(by int) { moved += by }
	s.OnCancel = func() { cancelled = true }
	widgettest.Window(t, s, 200, 40)
	test.Type(s, "abc")
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if s.Text != "" || cancelled || moved != 1 {
		t.Fatalf("got %q %v %d; want an empty Text, not cancelled and moved 1", s.Text, cancelled, moved)
	}
	s.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if !cancelled {
		t.Error("Escape in an empty field should cancel")
	}
}

func TestWidgetsMatchGolden(t *testing.T) {
	widgettest.Window(t, NewRect("", "", 0), 10, 10) // the theme must be set before creating widgets
	shown := map[string]fyne.CanvasObject{
		"sidebarrow": NewSidebarRow(SidebarItem{Icon: "online", Title: "server", Detail: "2 ms", Count: 2}, nil),
		"search":     NewSearchField("Search", "Ctrl K"),
	}
	for name, o := range shown {
		win := test.NewTempWindow(t, o)
		win.SetPadded(false)
		win.Resize(fyne.NewSize(500, max(90, o.MinSize().Height)))
		golden.Markup(t, name, o)
	}
}

func TestListShowsTheFullDetailUnderTheMouse(t *testing.T) {
	test.NewTempApp(t)
	l := NewItemList(nil)
	r := newListRow(l)
	test.NewTempWindow(t, r).Resize(fyne.NewSize(300, 60))
	r.set(0, ListItem{Title: "Read", Detail: "10:41", Full: "Sunday, 3 May 2026, 10:41:07"})
	for _, want := range []string{"Sunday, 3 May 2026, 10:41:07", "10:41"} {
		if want == "10:41" {
			r.detail.MouseOut()
		} else {
			r.detail.MouseIn(nil)
		}
		if r.detail.Text.Text != want {
			t.Errorf("got %q, want %q", r.detail.Text.Text, want)
		}
	}
	r.set(0, ListItem{Title: "Read", Detail: "today"})
	if r.detail.MouseIn(nil); r.detail.Text.Text != "today" {
		t.Errorf("without a full detail: got %q, want today", r.detail.Text.Text)
	}
}

func TestListSaysWhichLineIsAtAPlace(t *testing.T) {
	test.NewTempApp(t)
	l := NewItemList(nil)
	items := make([]ListItem, 40)
	for i := range items {
		items[i].Title = strings.Repeat("x", i)
	}
	l.Set(items)
	w := test.NewTempWindow(t, Inset(30, 10, 10, 20, l))
	w.Resize(fyne.NewSize(300, 400))
	driver := fyne.CurrentApp().Driver()
	seen := 0
	for _, scroll := range []float32{0, 333} {
		l.ScrollToOffset(scroll)
		var rows []*listRow
		var walk func(fyne.CanvasObject)
		walk = func(o fyne.CanvasObject) {
			switch o := o.(type) {
			case *listRow:
				if o.Visible() {
					rows = append(rows, o)
				}
			case *fyne.Container:
				for _, c := range o.Objects {
					walk(c)
				}
			case fyne.Widget:
				for _, c := range test.WidgetRenderer(o).Objects() {
					walk(c)
				}
			}
		}
		walk(l)
		for _, r := range rows {
			at := driver.AbsolutePositionForObject(r).AddXY(5, r.Size().Height/2)
			if from := driver.AbsolutePositionForObject(l); at.Y < from.Y || at.Y >= from.Y+l.Size().Height {
				continue
			}
			seen++
			if got := l.ItemAt(at); got != r.index {
				t.Errorf("scrolled by %v: at %v is line %d, it says %d", scroll, at, r.index, got)
			}
		}
	}
	if seen < 10 {
		t.Errorf("only %d lines were looked at, want at least 10", seen)
	}
	l.ScrollToOffset(0)
	l.Set(items[:1])
	for _, at := range []fyne.Position{{X: 5, Y: 50}, {X: 50, Y: 5}, {X: 50, Y: 300}} {
		if got := l.ItemAt(at); got != -1 {
			t.Errorf("at %v is line %d of one, want -1", at, got)
		}
	}
}

func TestStatusTakesNoSpaceWithoutText(t *testing.T) {
	status := NewStatus()
	box := Col(style.Inside, NewText("above", style.ColorText, "text"), status)
	empty := box.MinSize().Height
	status.Set("Saved.", style.ColorGood)
	shown := box.MinSize().Height
	status.Set("", style.ColorMuted)
	if shown <= empty || box.MinSize().Height != empty {
		t.Errorf("heights: %v without a text, %v with one, %v after it", empty, shown, box.MinSize().Height)
	}
}

// TestBordersAreOnePixel: a border without a fill is not mixed with black, and lies on the pixels.
func TestBordersAreOnePixel(t *testing.T) {
	a := test.NewTempApp(t)
	a.Settings().SetTheme(style.New(style.Light, 1))
	for name, o := range map[string]fyne.Widget{
		"rectangle": NewRect("", style.ColorLine, style.Corner), "field": NewEntry(), "search": NewSearchField("Search", "Ctrl K"), "area": NewTextArea(2, ""),
	} {
		t.Run(name, func(t *testing.T) {
			test.NewTempWindow(t, o).Resize(fyne.NewSize(200, 60))
			var border *canvas.Rectangle
			for _, x := range test.WidgetRenderer(o).Objects() {
				if r, ok := x.(*canvas.Rectangle); ok && r.StrokeWidth > 0 {
					border = r
				}
			}
			line := style.Color(style.ColorLine)
			if border == nil || border.StrokeColor != line || border.StrokeWidth != 1 || border.FillColor != invisible(line) {
				t.Fatalf("got %+v, want a line of one pixel in %v", border, line)
			}
			if border.Position() != (fyne.Position{}) || border.Size() != o.Size() {
				t.Errorf("the border is at %v, %v; want all of %v", border.Position(), border.Size(), o.Size())
			}
		})
	}
}

func TestSelectIsAsHighAsAButton(t *testing.T) {
	a := test.NewTempApp(t)
	for _, scale := range []float32{style.TextNormal, 1.5} {
		a.Settings().SetTheme(style.New(style.Light, scale))
		got, want := NewSelect([]string{"one"}, nil).MinSize().Height, NewButton("one", "", nil).MinSize().Height
		if got != want {
			t.Errorf("Height at the text size %v: got %v, want %v", scale, got, want)
		}
	}
}

func TestAWarningButtonIsAmber(t *testing.T) {
	b := NewMenuButton("Trust, 23 min left", "", nil)
	b.Warn = true
	r := test.WidgetRenderer(b).(*buttonRenderer)
	if want := style.Color(style.ColorNeedsYou); r.text.Color != want {
		t.Errorf("the text is %v, want %v", r.text.Color, want)
	}
}

func TestMouseDoesNotMoveTheCurrentLine(t *testing.T) {
	chosen := -1
	l := NewItemList(func(i int) { chosen = i })
	l.Set([]ListItem{{Title: "a"}, {Title: "b"}, {Title: "c"}})
	w := widgettest.Window(t, l, 300, 200)
	w.Canvas().Focus(l)
	l.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	height := newListRow(l).MinSize().Height
	test.MoveMouse(w.Canvas(), fyne.NewPos(20, 2.5*height+10))
	test.MoveMouse(w.Canvas(), fyne.NewPos(20, 190))
	for _, o := range widgettest.All[*listRow](l) {
		if got, want := o.focusRing.Visible(), o.item.Title == "b"; got != want {
			t.Errorf("line %s after the mouse was over c: got a ring %v, want %v", o.item.Title, got, want)
		}
	}
	if l.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn}); chosen != 1 {
		t.Errorf("Enter chose line %d, want 1, to which the arrow key moved", chosen)
	}
}
