package chat

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// maxLines is the maximum height of the entry in lines.
const maxLines = 8

// entry is the composer's text field: Enter sends, Shift+Enter starts a new line, Up and Down in an
// empty field browse the sent messages, Escape and Ctrl+. stop.
type entry struct {
	widgets.ShiftEntry
	onSend   func()
	onStop   func() bool // reports whether there was something to stop
	onEscape func()      // called for Escape if there was nothing to stop
	// called if the clipboard has no text; reports whether something else was pasted
	onPaste      func() bool
	onGrow       func()
	onFocus      func(bool)
	history      []string
	historyIndex int // index in history; len(history) is the present
	draft        string
	cursorToEnd  bool // move the cursor to the end
	lines        int
}

func newEntry() *entry {
	e := &entry{lines: 1}
	e.MultiLine = true
	e.Wrapping = fyne.TextWrapWord
	e.ExtendBaseWidget(e)
	e.SetMinRowsVisible(1)
	e.OnChanged = func(string) { e.fitHeight() }
	return e
}

func (e *entry) remember(text string) {
	if n := len(e.history); n == 0 || e.history[n-1] != text {
		e.history = append(e.history, text)
	}
	e.historyIndex, e.draft = len(e.history), ""
}

// setHistory replaces the history, oldest first.
func (e *entry) setHistory(texts []string) {
	if e.historyIndex == len(e.history) {
		e.history = texts
		e.historyIndex = len(texts)
	}
}

// AcceptsTab implements fyne.Tabbable: Tab moves on to the buttons and the chats.
func (e *entry) AcceptsTab() bool { return false }

// FocusGained implements fyne.Focusable.
func (e *entry) FocusGained() {
	e.Entry.FocusGained()
	e.onFocus(true)
}

// FocusLost implements fyne.Focusable.
func (e *entry) FocusLost() {
	e.ShiftEntry.FocusLost()
	e.onFocus(false)
}

// TypedKey implements fyne.Focusable.
func (e *entry) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		if !e.Shift {
			e.onSend()
			return
		}
	case fyne.KeyEscape:
		if e.onStop() {
			return
		}
		e.onEscape()
	case fyne.KeyUp:
		if (e.Text == "" || e.isFromHistory()) && e.historyIndex > 0 {
			if e.historyIndex == len(e.history) {
				e.draft = e.Text
			}
			e.historyIndex--
			e.recall()
			return
		}
	case fyne.KeyDown:
		if e.isFromHistory() {
			e.historyIndex++
			e.recall()
			return
		}
	}
	e.Entry.TypedKey(k)
}

// isFromHistory reports whether the text is an unchanged entry of the history.
func (e *entry) isFromHistory() bool {
	return e.historyIndex < len(e.history) && e.Text == e.history[e.historyIndex]
}

func (e *entry) recall() {
	text := e.draft
	if e.historyIndex < len(e.history) {
		text = e.history[e.historyIndex]
	}
	e.setText(text)
}

// setText sets the text with the cursor at its end: now, or once its line breaks are known.
func (e *entry) setText(text string) {
	e.SetText(text)
	e.cursorToEnd = true
	if e.Size().Width > 0 {
		e.moveToEnd()
	}
}

func (e *entry) moveToEnd() {
	if e.cursorToEnd {
		e.cursorToEnd = false
		e.Entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageDown})
	}
}

// TypedShortcut implements fyne.Shortcutable.
func (e *entry) TypedShortcut(s fyne.Shortcut) {
	switch s := s.(type) {
	case *fyne.ShortcutPaste:
		if s.Clipboard == nil {
			break
		}
		// Some programs return the bytes of a picture as text.
		if text := s.Clipboard.Content(); (text == "" || !utf8.ValidString(text)) && e.onPaste() {
			return
		}
	case *desktop.CustomShortcut:
		if s.KeyName == fyne.KeyPeriod && s.Modifier == fyne.KeyModifierShortcutDefault && e.onStop() {
			return
		}
	}
	e.Entry.TypedShortcut(s)
	widgets.PassShortcut(e, s)
}

// Resize implements fyne.CanvasObject.
func (e *entry) Resize(s fyne.Size) {
	e.Entry.Resize(s)
	if s.Width > 0 {
		e.moveToEnd()
	}
	e.fitHeight()
}

// fitHeight fits the height to the lines of the text at the present width.
func (e *entry) fitHeight() {
	width := e.Size().Width - 2*style.Inside
	lines := 0
	size := style.Size("text")
	for _, l := range strings.Split(e.Text, "\n") {
		n := 1
		if width > 0 && l != "" && lines < maxLines {
			n = int(fyne.MeasureText(l[:min(len(l), 4000)], size, fyne.TextStyle{}).Width*1.03/width) + 1
		}
		lines += n
		if lines >= maxLines {
			break
		}
	}
	lines = min(max(lines, 1), maxLines)
	if lines == e.lines {
		return
	}
	e.lines = lines
	e.SetMinRowsVisible(lines)
	e.onGrow()
}
