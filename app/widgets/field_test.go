package widgets

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"fairlead/app/widgets/widgettest"
)

func TestNothingTypedIsLostAfterSelectedTextWentAway(t *testing.T) {
	selectAll := func(e *Entry) { e.TypedShortcut(&fyne.ShortcutSelectAll{}) }
	write := func(e *Entry, text string) {
		for _, r := range text {
			e.TypedRune(r)
		}
	}
	remove := map[string]func(*Entry){
		"cleared": func(e *Entry) { selectAll(e); e.SetText("") },
		"undone":  func(e *Entry) { selectAll(e); e.TypedShortcut(&fyne.ShortcutUndo{}) },
		"undone by the menu": func(e *Entry) {
			selectAll(e)
			e.Undo()
		},
		"deleted": func(e *Entry) { selectAll(e); e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDelete}) },
	}
	add := map[string]func(*Entry){
		"typed": func(e *Entry) { write(e, "new text") },
		"pasted": func(e *Entry) {
			clipboard := fyne.CurrentApp().Clipboard()
			clipboard.SetContent("new ")
			e.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clipboard})
			write(e, "text")
		},
	}
	for name, newField := range map[string]func() *Entry{"text": NewEntry, "password": NewPasswordEntry} {
		for how, remove := range remove {
			for next, add := range add {
				t.Run(name+" "+how+", then "+next, func(t *testing.T) {
					e := newField()
					widgettest.Window(t, e, 400, 60)
					write(e, "old")
					remove(e)
					add(e)
					if e.Text != "new text" {
						t.Errorf("got %q, want %q", e.Text, "new text")
					}
				})
			}
		}
	}
}

func TestLongLineHasNoScrollBar(t *testing.T) {
	e := NewEntry()
	w := widgettest.Window(t, e, 200, 40)
	e.SetText(strings.Repeat("a long path ", 20))
	w.Canvas().Focus(e)
	e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEnd})
	scroll := widgettest.Find(e, func(*container.Scroll) bool { return true })
	if scroll == nil || scroll.Offset.X == 0 {
		t.Fatal("the field does not follow its cursor")
	}
	for _, o := range widgettest.Children(scroll)[1:] {
		if o.Visible() {
			t.Errorf("%T is shown over the text", o)
		}
	}
	area := NewTextArea(3, "")
	widgettest.Window(t, area, 200, 80)
	area.SetText(strings.Repeat("a line\n", 20))
	bars := widgettest.Find(area, func(*container.Scroll) bool { return true })
	if !slices.ContainsFunc(widgettest.Children(bars)[1:], fyne.CanvasObject.Visible) {
		t.Error("several lines have no scroll bar")
	}
}

func TestPathFieldShowsTheEndOfAPath(t *testing.T) {
	e := NewEntry()
	e.SetPath("/home/ann/projects/" + strings.Repeat("deep/", 20) + "work")
	w := widgettest.Window(t, e, 200, 40)
	scroll := widgettest.Find(e, func(*container.Scroll) bool { return true })
	isAtEnd := func() bool {
		return scroll.Offset.X > 0 && scroll.Offset.X+scroll.Size().Width >= e.CursorPosition().X
	}
	if !isAtEnd() {
		t.Errorf("got the offset %v, want the end of the path", scroll.Offset)
	}
	w.Resize(fyne.NewSize(120, 40))
	if !isAtEnd() {
		t.Errorf("in a narrower window: got the offset %v, want the end of the path", scroll.Offset)
	}
	w.Canvas().Focus(e)
	e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyHome})
	w.Resize(fyne.NewSize(140, 40))
	if e.CursorColumn != 0 {
		t.Errorf("while it is edited: got the cursor at %d, want it where the person left it", e.CursorColumn)
	}
}

func TestButtonWithoutRoomShortensItsText(t *testing.T) {
	b := NewButton("a machine with a very long name", "machine", nil)
	widgettest.Window(t, Shrinking(b, 60), 120, 40)
	text := widgettest.Find(b, func(o *canvas.Text) bool { return o.Visible() })
	if end := text.Position().X + text.MinSize().Width; !strings.HasSuffix(text.Text, "…") || end > 120 || b.Size().Width > 120 {
		t.Errorf("got %q to %v in %v, want it shortened to 120", text.Text, end, b.Size().Width)
	}
	if full := NewButton(b.Text, "machine", nil).MinSize(); b.MinSize() != full {
		t.Errorf("afterwards it needs %v, want %v as before", b.MinSize(), full)
	}
}
