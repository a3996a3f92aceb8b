package chat

import (
	"strings"
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// maxLines is the maximum height of the entry in lines.
const maxLines = 8

// sentText is something that the person sent; id names the message that can be edited.
type sentText struct {
	text string
	id   protocol.MessageID
}

// entry is the composer's text field: Enter sends, Shift+Enter starts a new line, Up and Down in an
// empty field browse the sent messages to edit one, Escape and Ctrl+. stop.
type entry struct {
	widgets.ShiftEntry
	onSend   func()
	onStop   func() bool // reports whether there was something to stop
	onEscape func()      // called for Escape if there was nothing to stop
	// called if the clipboard has no text; reports whether something else was pasted
	onPaste      func() bool
	onGrow       func()
	onFocus      func(bool)
	onRecall     func(sentText) // called when a sent message or, without an ID, the draft is shown
	onCancel     func() bool    // called for Escape; reports whether there was something to cancel
	history      []sentText
	historyIndex int // index in history; len(history) is the present
	draft        string
	cursorToEnd  bool // move the cursor to the end
	lines        int

	completion *completion // what can be inserted at the cursor; set by the composer
	isTyping   bool        // the text changes because the person types
	last       string      // the text before the latest change
}

func newEntry() *entry {
	e := &entry{lines: 1}
	e.MultiLine = true
	e.Wrapping = fyne.TextWrapWord
	e.ExtendBaseWidget(e)
	e.SetMinRowsVisible(1)
	e.OnChanged = func(text string) {
		e.fitHeight()
		before := ""
		if e.isTyping {
			before = beforeCursor(e.last, text)
		}
		e.last = text
		if e.completion != nil {
			e.completion.update(before)
		}
	}
	return e
}

// beforeCursor returns the text before the cursor after a change by typing: the cursor is behind
// what was inserted, or where something was deleted.
func beforeCursor(old, text string) string {
	same := 0 // bytes at the beginning
	for same < min(len(old), len(text)) && old[same] == text[same] {
		same++
	}
	end := len(text)
	for n := len(old); end > same && n > same && old[n-1] == text[end-1]; n-- {
		end--
	}
	return strings.ToValidUTF8(text[:end], "")
}

// replaceWord replaces n characters before the cursor.
func (e *entry) replaceWord(n int, text string) {
	for range n {
		e.Entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyBackspace})
	}
	for _, r := range text {
		e.Entry.TypedRune(r)
	}
}

// TypedRune implements fyne.Focusable.
func (e *entry) TypedRune(r rune) {
	e.isTyping = true
	e.Entry.TypedRune(r)
	e.isTyping = false
}

// MouseDown implements desktop.Mouseable: the cursor moves, so that the completions no longer fit.
func (e *entry) MouseDown(m *desktop.MouseEvent) {
	e.completion.update("")
	e.Entry.MouseDown(m)
}

func (e *entry) remember(text string) {
	if n := len(e.history); n == 0 || e.history[n-1].text != text {
		e.history = append(e.history, sentText{text: text})
	}
	e.historyIndex, e.draft = len(e.history), ""
}

// setHistory replaces the history, oldest first.
func (e *entry) setHistory(texts []sentText) {
	if e.historyIndex == len(e.history) {
		e.history = texts
		e.historyIndex = len(texts)
	}
}

// AcceptsTab implements fyne.Tabbable: Tab moves on to the buttons and the chats, unless it chooses
// a completion.
func (e *entry) AcceptsTab() bool { return e.completion != nil && e.completion.box.Visible() }

// FocusGained implements fyne.Focusable.
func (e *entry) FocusGained() {
	e.Entry.FocusGained()
	e.completion.leftAt = time.Time{}
	e.onFocus(true)
}

// FocusLost implements fyne.Focusable.
func (e *entry) FocusLost() {
	e.ShiftEntry.FocusLost()
	if e.completion.box.Visible() {
		e.completion.leftAt = time.Now()
	}
	e.onFocus(false)
}

// KeysGroup is the heading of Keys.
const KeysGroup = "Writing a message"

// Keys are those of [entry.TypedKey].
var Keys = []widgets.KeyText{
	{Keys: "Enter", Text: "Send"},
	{Keys: "Shift Enter", Text: "New line"},
	{Keys: "Up in an empty field", Text: "Edit your last message"},
	{Keys: "/ at the beginning", Text: "Commands and skills"},
	{Keys: "@", Text: "Mention a machine, file, skill or chat"},
	{Keys: "! at the beginning", Text: "Run a command yourself"},
	{Keys: "Esc", Text: "Close the list, leave the edit or stop the run"},
}

// TypedKey implements fyne.Focusable.
func (e *entry) TypedKey(k *fyne.KeyEvent) {
	if !e.Shift && e.completion.key(k.Name) {
		return
	}
	switch k.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		if !e.Shift {
			e.onSend()
			return
		}
	case fyne.KeyEscape:
		if e.onCancel() || e.onStop() {
			return
		}
		e.onEscape()
		return
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
	e.isTyping = k.Name == fyne.KeyBackspace
	e.Entry.TypedKey(k)
	e.isTyping = false
}

// isFromHistory reports whether the text is an unchanged entry of the history.
func (e *entry) isFromHistory() bool {
	return e.historyIndex < len(e.history) && e.Text == e.history[e.historyIndex].text
}

func (e *entry) recall() {
	now := sentText{text: e.draft}
	if e.historyIndex < len(e.history) {
		now = e.history[e.historyIndex]
	}
	e.setText(now.text)
	e.onRecall(now)
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
