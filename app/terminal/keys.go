package terminal

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/gateway/peer/screen"
)

// modifier returns the parameter of a sequence for modifiers: 1 and a bit for each of them.
func modifier(m fyne.KeyModifier) int {
	n := 1
	for bit, mod := range map[int]fyne.KeyModifier{1: fyne.KeyModifierShift, 2: fyne.KeyModifierAlt, 4: fyne.KeyModifierControl} {
		if m&mod != 0 {
			n += bit
		}
	}
	return n
}

// letters end the sequences of keys without a number.
var letters = map[fyne.KeyName]byte{
	fyne.KeyUp: 'A', fyne.KeyDown: 'B', fyne.KeyRight: 'C', fyne.KeyLeft: 'D', fyne.KeyHome: 'H', fyne.KeyEnd: 'F',
	fyne.KeyF1: 'P', fyne.KeyF2: 'Q', fyne.KeyF3: 'R', fyne.KeyF4: 'S',
}

// numbers are those of the keys with sequences that end with ~.
var numbers = map[fyne.KeyName]int{
	fyne.KeyInsert: 2, fyne.KeyDelete: 3, fyne.KeyPageUp: 5, fyne.KeyPageDown: 6,
	fyne.KeyF5: 15, fyne.KeyF6: 17, fyne.KeyF7: 18, fyne.KeyF8: 19, fyne.KeyF9: 20, fyne.KeyF10: 21, fyne.KeyF11: 23, fyne.KeyF12: 24,
}

// keyInput returns what a key sends that types no character, or "".
func keyInput(key fyne.KeyName, m fyne.KeyModifier, modes screen.Modes) string {
	n := modifier(m)
	if letter, ok := letters[key]; ok {
		isF := strings.HasPrefix(string(key), "F")
		switch {
		case n > 1:
			return fmt.Sprintf("\x1b[1;%d%c", n, letter)
		case isF || modes.CursorKeys:
			return "\x1bO" + string(letter)
		}
		return "\x1b[" + string(letter)
	}
	if number, ok := numbers[key]; ok {
		if n > 1 {
			return fmt.Sprintf("\x1b[%d;%d~", number, n)
		}
		return fmt.Sprintf("\x1b[%d~", number)
	}
	text := plainKeys[key]
	switch {
	case key == fyne.KeyTab && m&fyne.KeyModifierShift != 0:
		return "\x1b[Z"
	case key == fyne.KeyBackspace && m&fyne.KeyModifierControl != 0:
		text = "\b"
	}
	if text != "" && m&fyne.KeyModifierAlt != 0 {
		return "\x1b" + text
	}
	return text
}

var plainKeys = map[fyne.KeyName]string{
	fyne.KeyReturn: "\r", fyne.KeyEnter: "\r", fyne.KeyTab: "\t", fyne.KeyBackspace: "\x7f", fyne.KeyEscape: "\x1b",
}

// chordInput returns what a character key sends with Ctrl or Alt, or "".
func chordInput(key fyne.KeyName, m fyne.KeyModifier) string {
	text := strings.ToLower(string(key))
	switch {
	case key == fyne.KeySpace:
		text = " "
	case len(text) != 1:
		return ""
	}
	if m&fyne.KeyModifierShift != 0 {
		text = strings.ToUpper(text)
	}
	if m&fyne.KeyModifierControl != 0 {
		if text = control(text[0]); text == "" {
			return ""
		}
	}
	if m&fyne.KeyModifierAlt != 0 {
		return "\x1b" + text
	}
	return text
}

// control returns the control character of a key with Ctrl, or "".
func control(b byte) string {
	switch {
	case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '[' && b <= '_':
		return string(rune(b & 0x1f))
	case b == ' ', b == '2':
		return "\x00"
	case b == '/', b == '-':
		return "\x1f"
	}
	return ""
}

// pasteInput returns what pasting a text sends. Control characters could run commands unseen.
func pasteInput(text string, modes screen.Modes) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r")
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\r' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, text)
	if modes.BracketedPaste {
		return "\x1b[200~" + text + "\x1b[201~"
	}
	return text
}

// mouseInput returns what a button of the mouse sends, from 0 on, or of the wheel, 64 up and 65 down,
// at a cell of the screen, or "" if the program does not want it.
func mouseInput(button, x, y int, pressed bool, modes screen.Modes) string {
	switch {
	case modes.Mouse == 0 || modes.Mouse == 9 && !pressed:
		return ""
	case modes.MouseFormat == 1006:
		end := 'M'
		if !pressed {
			end = 'm'
		}
		return fmt.Sprintf("\x1b[<%d;%d;%d%c", button, x+1, y+1, end)
	case x > 222 || y > 222: // the oldest format has one byte for each
		return ""
	case !pressed:
		button = 3
	}
	return string([]byte{'\x1b', '[', 'M', byte(32 + button), byte(33 + x), byte(33 + y)})
}
