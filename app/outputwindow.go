package app

import (
	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/native"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
)

// openOutput shows the output of a call in a window of its own.
func (u *ui) openOutput(title, text string, search bool) {
	w := native.NewWindow(u.app, format.Clip(title, 80)+" – Fairlead", nil)
	w.SetPadded(false)
	lines := code.OutputLines(text)
	r := code.NewReader(lines, wording.LineCount(len(lines)))
	r.OnClose = w.Close
	w.SetContent(belowBar(u.newBar(), r))
	w.Resize(fyne.NewSize(900, 640))
	shortcut(w, fyne.KeyW, w.Close)
	focusSearch := func() { w.Canvas().Focus(r.SearchField()) }
	shortcut(w, fyne.KeyF, focusSearch)
	w.Canvas().AddShortcut(&fyne.ShortcutCopy{}, func(fyne.Shortcut) {
		if s := r.Selected(); s != "" {
			u.app.Clipboard().SetContent(s)
		}
	})
	w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyEscape {
			w.Close()
		}
	})
	w.Show()
	if search {
		focusSearch()
	}
}
