package app

import (
	"testing"

	"fyne.io/fyne/v2"
)

func TestADialogOfFilesIsClosedByKey(t *testing.T) {
	s := newTestShell(t)
	s.update(sample())
	c := s.window.Canvas()
	s.hasTray = true
	for name, press := range map[string]func(){
		"Escape": func() { c.OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape}) },
		"Ctrl+W": s.closeByKey,
	} {
		pickFiles(s.window, func([]string) {})
		if c.Overlays().Top() == nil {
			t.Fatal("no dialog")
		}
		press()
		if c.Overlays().Top() != nil || !s.visible {
			t.Errorf("%s: the dialog is open: %v, the window is shown: %v", name, c.Overlays().Top() != nil, s.visible)
		}
	}
}
