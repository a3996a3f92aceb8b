package app

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

func TestAnOverlayIsClosedByKey(t *testing.T) {
	u := newTestUI(t)
	u.update(sample())
	c := u.main.window.Canvas()
	u.hasTray = true
	for name, press := range map[string]func(){
		"Escape": func() { c.OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape}) },
		"Ctrl+W": u.main.closeByKey,
	} {
		t.Run(name, func(t *testing.T) {
			widget.ShowPopUp(widget.NewLabel("a popup"), c)
			if c.Overlays().Top() == nil {
				t.Fatal("no overlay")
			}
			press()
			if c.Overlays().Top() != nil || !u.main.visible {
				t.Errorf("%s: the overlay is open: %v, the window is shown: %v", name, c.Overlays().Top() != nil, u.main.visible)
			}
		})
	}
}
