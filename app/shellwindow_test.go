package app

import (
	"testing"

	"fyne.io/fyne/v2"
)

func TestWindowsOfTheirOwnOpenInTheSizeTheyHad(t *testing.T) {
	s := newTestShell(t)
	s.update(sample())
	s.tearOff("agent:main:2")
	c := s.torn["agent:main:2"]
	c.window.Resize(fyne.NewSize(620, 480))
	c.window.Close()
	s.tearOff("agent:main:2")
	c = s.torn["agent:main:2"]
	if got := c.window.Canvas().Size(); got != fyne.NewSize(620, 480) {
		t.Errorf("it opens with %v", got)
	}
	c.window.Resize(fyne.NewSize(700, 500))
	s.openSettings()
	s.settings.Resize(fyne.NewSize(640, 520))
	s.settings.Close() // as Ctrl+W does
	s.remember()
	if r := s.b.prefs.get(); r.TornWidth != 700 || r.SettingsWidth != 640 || r.SettingsHeight != 520 {
		t.Errorf("remembered %+v", r)
	}
}
