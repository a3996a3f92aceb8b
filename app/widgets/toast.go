package widgets

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
)

// Toast is the bar that shows a completed action and offers to undo it for a while. It has no
// timer: its window calls [Toast.Tick] each second while [Toast.Visible].
type Toast struct {
	Composite
	text      *Paragraph
	remaining *Text
	undo      *Button
	until     time.Time
	onUndo    func()
}

// NewToast creates a hidden bar.
func NewToast() *Toast {
	t := &Toast{text: NewParagraph("", style.ColorText, "text"), remaining: NewText("", style.ColorMuted, style.SizeSmall)}
	t.undo = NewButton("Undo", "undo", t.Undo)
	closeIt := NewQuietButton("", "cross", t.Close)
	t.Compose(t, container.NewStack(NewRect("menuBackground", style.ColorLine, style.Corner),
		Inset(6, 6, 6, 12, Row(style.Inside, 0, t.text, t.remaining, t.undo, closeIt))))
	t.Hide()
	return t
}

// ShowMessage shows text until a time; undo may be nil.
func (t *Toast) ShowMessage(text string, undo func(), now, until time.Time) {
	t.onUndo, t.until = undo, until
	t.text.Set(text, style.ColorText)
	SetVisible(t.undo, undo != nil)
	SetVisible(t.remaining, undo != nil)
	t.Show()
	t.Tick(now)
}

// Tick shows the remaining time and hides the bar when it has expired.
func (t *Toast) Tick(now time.Time) {
	if !t.Visible() {
		return
	}
	rest := t.until.Sub(now)
	if rest <= 0 {
		t.Close()
		return
	}
	t.remaining.SetText(fmt.Sprintf("%d s", int((rest+time.Second-1)/time.Second)))
	if t.Size().Width > 0 {
		Relayout(t.content)
	}
}

// Undo does the same as its button.
func (t *Toast) Undo() {
	act := t.onUndo
	t.Close()
	Call(act)
}

// Close hides the bar.
func (t *Toast) Close() {
	t.onUndo = nil
	t.Hide()
}
