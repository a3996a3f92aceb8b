package widgets

import (
	"testing"

	"fyne.io/fyne/v2"

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
