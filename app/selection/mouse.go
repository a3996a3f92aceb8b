package selection

import (
	"net/url"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// Events are the callbacks of one or several passages. Each may be nil.
type Events struct {
	// OnPress is called for the first to third quick press at a position of a text.
	OnPress func(in Passage, at, times int)
	OnMenu  func(at fyne.Position) // for the secondary button, with its position on the canvas
	OnLink  func(*url.URL)         // for a click on a link
	OnCopy  func(text string)      // for the Copy button of a code block
	OnHover func()                 // when the mouse enters a text
	Forward func(*fyne.ScrollEvent)
}

// Scroll forwards a scroll event that a passage does not use.
func (e *Events) Scroll(s *fyne.ScrollEvent) {
	if e.Forward != nil {
		e.Forward(s)
	}
}

// Mouse reports the mouse over a passage. The passage's widget embeds it, because the toolkit looks
// for its methods there.
type Mouse struct {
	*Events
	owner     Passage
	pressed   time.Time // last mouse press, its position and number
	pressedAt int
	presses   int
}

// NewMouse creates the mouse of a passage.
func NewMouse(owner Passage) Mouse { return Mouse{Events: &Events{}, owner: owner} }

// doubleClickTime is the maximum time between presses of a double or triple click.
const doubleClickTime = 400 * time.Millisecond

// MouseDown implements desktop.Mouseable.
func (m *Mouse) MouseDown(e *desktop.MouseEvent) {
	if e.Button != desktop.MouseButtonPrimary || m.OnPress == nil {
		return
	}
	at, now := m.owner.Index(e.Position), time.Now()
	if now.Sub(m.pressed) >= doubleClickTime || max(at-m.pressedAt, m.pressedAt-at) > 1 {
		m.presses = 0
	}
	m.presses = m.presses%3 + 1
	m.pressed, m.pressedAt = now, at
	m.OnPress(m.owner, at, m.presses)
}

// MouseUp implements desktop.Mouseable.
func (m *Mouse) MouseUp(*desktop.MouseEvent) {}

// TappedSecondary implements fyne.SecondaryTappable.
func (m *Mouse) TappedSecondary(e *fyne.PointEvent) {
	if m.OnMenu != nil {
		m.OnMenu(e.AbsolutePosition)
	}
}

// Cursor implements desktop.Cursorable.
func (m *Mouse) Cursor() desktop.Cursor {
	if m.OnPress != nil {
		return desktop.TextCursor
	}
	return desktop.DefaultCursor
}
