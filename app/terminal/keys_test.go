package terminal

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/gateway/peer/screen"
)

func TestKeysSendWhatXtermSends(t *testing.T) {
	const ctrl, alt, shift = fyne.KeyModifierControl, fyne.KeyModifierAlt, fyne.KeyModifierShift
	application := screen.Modes{CursorKeys: true}
	for _, c := range []struct {
		key   fyne.KeyName
		m     fyne.KeyModifier
		modes screen.Modes
		want  string
	}{
		{fyne.KeyUp, 0, screen.Modes{}, "\x1b[A"},
		{fyne.KeyUp, 0, application, "\x1bOA"},
		{fyne.KeyLeft, ctrl, application, "\x1b[1;5D"},
		{fyne.KeyEnd, 0, screen.Modes{}, "\x1b[F"},
		{fyne.KeyF1, 0, screen.Modes{}, "\x1bOP"},
		{fyne.KeyF5, shift, screen.Modes{}, "\x1b[15;2~"},
		{fyne.KeyF12, 0, screen.Modes{}, "\x1b[24~"},
		{fyne.KeyDelete, 0, screen.Modes{}, "\x1b[3~"},
		{fyne.KeyReturn, 0, screen.Modes{}, "\r"},
		{fyne.KeyBackspace, 0, screen.Modes{}, "\x7f"},
		{fyne.KeyBackspace, ctrl, screen.Modes{}, "\b"},
		{fyne.KeyBackspace, alt, screen.Modes{}, "\x1b\x7f"},
		{fyne.KeyTab, shift, screen.Modes{}, "\x1b[Z"},
		{fyne.KeyEscape, 0, screen.Modes{}, "\x1b"},
		{fyne.KeyA, 0, screen.Modes{}, ""}, // it types a character
	} {
		if got := keyInput(c.key, c.m, c.modes); got != c.want {
			t.Errorf("key %v with %v: got %q, want %q", c.key, c.m, got, c.want)
		}
	}
	for _, c := range []struct {
		key  fyne.KeyName
		m    fyne.KeyModifier
		want string
	}{
		{fyne.KeyC, ctrl, "\x03"},
		{fyne.KeyLeftBracket, ctrl, "\x1b"},
		{fyne.KeySpace, ctrl, "\x00"},
		{fyne.KeySlash, ctrl, "\x1f"},
		{fyne.KeyB, alt, "\x1bb"},
		{fyne.KeyB, alt | shift, "\x1bB"},
		{fyne.KeyB, alt | ctrl, "\x1b\x02"},
		{fyne.KeyF5, alt, ""},
	} {
		if got := chordInput(c.key, c.m); got != c.want {
			t.Errorf("key %v with %v: got %q, want %q", c.key, c.m, got, c.want)
		}
	}
}

func TestPasteCannotEndItsBrackets(t *testing.T) {
	text := "one\r\ntwo\n\x1b[201~rm -rf /\x03\ttab"
	if got, want := pasteInput(text, screen.Modes{}), "one\rtwo\r[201~rm -rf /\ttab"; got != want {
		t.Errorf("pasted: got %q, want %q", got, want)
	}
	if got, want := pasteInput("a", screen.Modes{BracketedPaste: true}), "\x1b[200~a\x1b[201~"; got != want {
		t.Errorf("pasted in brackets: got %q, want %q", got, want)
	}
}

func TestMouseIsReportedInTheProgramsFormat(t *testing.T) {
	if got := mouseInput(0, 4, 2, true, screen.Modes{}); got != "" {
		t.Errorf("mouse that the program does not want: got %q, want nothing", got)
	}
	sgr := screen.Modes{Mouse: 1000, MouseFormat: 1006}
	if got, want := mouseInput(0, 4, 2, true, sgr)+mouseInput(0, 4, 2, false, sgr), "\x1b[<0;5;3M\x1b[<0;5;3m"; got != want {
		t.Errorf("click: got %q, want %q", got, want)
	}
	old := screen.Modes{Mouse: 1000}
	if got, want := mouseInput(65, 0, 0, true, old)+mouseInput(2, 0, 0, false, old)+mouseInput(0, 300, 0, true, old), "\x1b[Ma!!\x1b[M#!!"; got != want {
		t.Errorf("wheel and release in the oldest format: got %q, want %q", got, want)
	}
}
