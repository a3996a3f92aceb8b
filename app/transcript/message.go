package transcript

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"

	"fairlead/app/markdown"
	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Message is the content of a [MessageView].
type Message struct {
	Sender string // "You", "Fairlead"; empty hides the header, for the further parts of a message
	Time   string
	Text   string // Markdown
	Plain  bool   // Text is plain text: a person's message is shown as it was typed
	// FullTime is the full time, shown instead of Time while the mouse is over it.
	FullTime string
	Images   []fyne.Resource
}

// MessageView shows a message or a part of one.
type MessageView struct {
	widgets.Composite
	selection.Events // OnMenu opens the menu of the message, also from its button
	OnImage          func(index int)

	msg     Message
	from    *widgets.Text
	time    *widgets.HoverText
	actions *fyne.Container // see SetActions
	more    *widgets.Button // opens the menu
	head    *fyne.Container
	text    *markdown.View
	plain   *markdown.RichText
	images  *fyne.Container
	raw     bool
}

// NewMessageView creates an empty view.
func NewMessageView() *MessageView {
	m := &MessageView{from: widgets.NewHeading("", "text"), time: widgets.NewHoverText(), text: markdown.NewView(), plain: markdown.NewRichText()}
	m.more = widgets.NewIconButton("more", "Actions of the message", func() {
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(m.more)
		widgets.CallWith(m.OnMenu, at.AddXY(0, m.more.Size().Height+style.Gap))
	})
	m.more.Muted, m.more.Small = true, true
	m.actions = widgets.Row(0, -1)
	m.actions.Hide()
	m.head = widgets.Row(style.Inside, 1, m.from, layout.NewSpacer(), m.actions, m.more, m.time)
	m.text.Events, m.plain.Events = &m.Events, &m.Events
	m.images = widgets.Flow(style.Inside)
	m.Compose(m, widgets.Col(style.Gap, m.head, m.text, m.plain, m.images))
	return m
}

// SetActions shows buttons above the message, such as while the mouse is over it; none hides them.
func (m *MessageView) SetActions(list ...fyne.CanvasObject) {
	if len(list) == 0 && !m.actions.Visible() {
		return
	}
	m.actions.Objects = list
	m.actions.Refresh()
	widgets.SetVisible(m.actions, len(list) > 0)
	m.head.Refresh()
}

// MouseIn implements desktop.Hoverable.
func (m *MessageView) MouseIn(*desktop.MouseEvent) { widgets.Call(m.OnHover) }

// MouseMoved implements desktop.Hoverable.
func (m *MessageView) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (m *MessageView) MouseOut() {}

// SetRaw shows the unformatted text, so that any part of it can be selected and copied.
func (m *MessageView) SetRaw(on bool) {
	if m.raw != on {
		m.raw = on
		m.show()
	}
}

// Set shows a message.
func (m *MessageView) Set(msg Message) {
	same := slices.Equal(msg.Images, m.msg.Images)
	if same && msg.Sender == m.msg.Sender && msg.Time == m.msg.Time && msg.FullTime == m.msg.FullTime && msg.Text == m.msg.Text && msg.Plain == m.msg.Plain {
		return
	}
	if !same {
		m.images.Objects = nil
		for i, r := range msg.Images {
			m.images.Add(NewThumbnail(r, func() { widgets.CallWith(m.OnImage, i) }))
		}
	}
	m.msg = msg
	m.show()
}

func (m *MessageView) show() {
	m.from.SetText(m.msg.Sender)
	m.time.Set(m.msg.Time, m.msg.FullTime, style.ColorMuted)
	widgets.SetVisible(m.head, m.msg.Sender != "")
	plain := m.msg.Plain || m.raw
	if plain {
		m.plain.SetPlain(m.msg.Text, "", "text")
	} else {
		m.text.SetText(m.msg.Text)
	}
	widgets.SetVisible(m.plain, plain && m.msg.Text != "")
	widgets.SetVisible(m.text, !plain && m.msg.Text != "")
	widgets.SetVisible(m.images, len(m.msg.Images) > 0)
	m.LayOut()
}

// Passages returns its texts.
func (m *MessageView) Passages() []selection.Passage {
	if m.plain.Visible() {
		return []selection.Passage{m.plain}
	}
	return m.text.Passages()
}

// TappedSecondary implements fyne.SecondaryTappable.
func (m *MessageView) TappedSecondary(e *fyne.PointEvent) {
	widgets.CallWith(m.OnMenu, e.AbsolutePosition)
}
