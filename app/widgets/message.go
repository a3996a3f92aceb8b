package widgets

import (
	"net/url"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// Message is the content of a [MessageView].
type Message struct {
	From  string // "You", "Fairlead"; empty hides the header, for the further parts of a message
	Time  string
	Text  string // Markdown
	Plain bool   // Text is plain text: a person's message is shown as it was typed
	// Exact is the full time, shown instead of Time while the mouse is over it.
	Exact  string
	Images []fyne.Resource
}

// MessageView shows a message or a part of one.
type MessageView struct {
	widget.BaseWidget
	OnCopy  func()
	OnLink  func(*url.URL)
	OnCode  func(string) // called by Copy of a code block
	OnImage func(index int)
	OnMenu  func(at fyne.Position)
	// OnPress is called when a mouse button is pressed in a text; see [Transcript.Press].
	OnPress func(in Passage, at, times int)

	msg    Message
	from   *Text
	time   *hoverText
	copyIt *Button
	head   *fyne.Container
	text   *Markdown
	plain  *Prose
	plainB *fyne.Container
	images *fyne.Container
	box    *fyne.Container
	raw    bool
}

var _ fyne.SecondaryTappable = (*MessageView)(nil)

// NewMessageView creates an empty view.
func NewMessageView() *MessageView {
	m := &MessageView{from: NewHeading("", "text"), time: newHoverText(), text: NewMarkdown(), plain: NewProse()}
	m.copyIt = NewQuiet("", "copy", func() { call(m.OnCopy) })
	m.copyIt.Muted, m.copyIt.Small = true, true
	m.head = Row(style.Inside, 1, m.from, layout.NewSpacer(), m.copyIt, m.time)
	m.text.OnLink = func(u *url.URL) {
		if m.OnLink != nil {
			m.OnLink(u)
		}
	}
	m.text.OnCopy = func(s string) {
		if m.OnCode != nil {
			m.OnCode(s)
		}
	}
	m.text.OnPress, m.text.OnMenu = m.press, m.menu
	m.plain.OnPress = func(at, times int) { m.press(m.plain, at, times) }
	m.plain.OnMenu = m.menu
	m.plainB = Readable(m.plain)
	m.images = Flow(style.Inside)
	m.box = Col(style.Gap, m.head, m.text, m.plainB, m.images)
	m.ExtendBaseWidget(m)
	return m
}

// SetForward sets the receiver of scroll events that the text does not use.
func (m *MessageView) SetForward(f func(*fyne.ScrollEvent)) { m.text.Forward = f }

// SetRaw shows the unformatted text, so that any part of it can be selected and copied.
func (m *MessageView) SetRaw(on bool) {
	if m.raw != on {
		m.raw = on
		m.show()
	}
}

// Set shows a message.
func (m *MessageView) Set(msg Message) {
	if msg.From == m.msg.From && msg.Time == m.msg.Time && msg.Text == m.msg.Text && msg.Plain == m.msg.Plain && sameImages(msg.Images, m.msg.Images) && msg.Exact == m.msg.Exact {
		return
	}
	if !sameImages(msg.Images, m.msg.Images) {
		m.images.Objects = nil
		for i, r := range msg.Images {
			m.images.Add(NewImageThumb(r, func() {
				if m.OnImage != nil {
					m.OnImage(i)
				}
			}))
		}
	}
	m.msg = msg
	m.show()
}

func sameImages(a, b []fyne.Resource) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (m *MessageView) show() {
	m.from.SetText(m.msg.From)
	m.time.set(m.msg.Time, m.msg.Exact)
	show(m.head, m.msg.From != "")
	plain := m.msg.Plain || m.raw
	if plain {
		m.plain.SetPlain(m.msg.Text, "", "text")
	} else {
		m.text.SetText(m.msg.Text)
	}
	show(m.plainB, plain && m.msg.Text != "")
	show(m.text, !plain && m.msg.Text != "")
	show(m.images, len(m.msg.Images) > 0)
	if s := m.Size(); s.Width > 0 {
		relayout(m.box)
	}
}

func (m *MessageView) press(in Passage, at, times int) {
	if m.OnPress != nil {
		m.OnPress(in, at, times)
	}
}

func (m *MessageView) menu(at fyne.Position) {
	if m.OnMenu != nil {
		m.OnMenu(at)
	}
}

// Passages returns its texts.
func (m *MessageView) Passages() []Passage {
	if m.plainB.Visible() {
		return []Passage{m.plain}
	}
	return m.text.Passages()
}

// TappedSecondary implements fyne.SecondaryTappable.
func (m *MessageView) TappedSecondary(e *fyne.PointEvent) {
	if m.OnMenu != nil {
		m.OnMenu(e.AbsolutePosition)
	}
}

// CreateRenderer implements fyne.Widget.
func (m *MessageView) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(m.box) }

// hoverText shows a short text, and the full one while the mouse is over it.
type hoverText struct {
	Text
	brief, full string
}

func newHoverText() *hoverText {
	h := &hoverText{Text: Text{Color: style.ColorMuted, SizeName: style.SizeSmall}}
	h.ExtendBaseWidget(h)
	return h
}

func (h *hoverText) set(brief, full string) { h.brief, h.full = brief, full; h.SetText(brief) }

func (h *hoverText) MouseIn(*desktop.MouseEvent) {
	if h.full != "" {
		h.SetText(h.full)
	}
}
func (h *hoverText) MouseMoved(*desktop.MouseEvent) {}
func (h *hoverText) MouseOut()                      { h.SetText(h.brief) }
