package chat

import (
	"cmp"
	"net/url"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

func (p rowFactory) messageRow() *row {
	var d messageData
	var key string
	m := transcript.NewMessageView()
	m.Forward, m.OnCopy, m.OnPress = p.transcript.Scrolled, copyText, p.transcript.Press
	m.OnLink = func(u *url.URL) { p.handlers.OpenURL(u.String()) }
	m.OnImage = func(i int) {
		if keys := strings.Split(d.images, "\n"); i < len(keys) {
			p.handlers.OpenImage(p.images[keys[i]])
		}
	}
	m.OnHover = func() { p.showActions(m, d) }
	m.OnMenu = func(at fyne.Position) {
		raw := fyne.NewMenuItem("Show Markdown source", func() {
			p.showSource[key] = !p.showSource[key]
			m.SetRaw(p.showSource[key])
			p.transcript.HeightChanged()
		})
		raw.Checked = p.showSource[key]
		var more []*fyne.MenuItem
		if !d.plain {
			more = append(more, raw)
		}
		for i, a := range p.messageActions(d) {
			if i == 0 {
				more = append(more, fyne.NewMenuItemSeparator())
			}
			more = append(more, a.menuItem())
		}
		p.copyMenu(m, at, "Copy message", p.source(d), more...)
	}
	r := newRow(0, m, nil)
	r.bind = func(i transcript.Item) {
		if i.Key != key && p.pointed == m { // the row shows another message now
			m.SetActions()
			p.Pane.pointed = nil
		}
		d, key = i.Data.(messageData), i.Key
		r.top = widgets.Choose(d.sender != "", style.Group, style.Gap)
		m.SetRaw(p.showSource[key])
		m.Set(transcript.Message{Sender: d.sender, Time: d.time, FullTime: d.fullTime, Text: d.text, Plain: d.plain, Images: p.pictures(d.images)})
	}
	return r
}

// messageAction is something that can be done with a message.
type messageAction struct {
	text    string
	short   string // label of the button above the message; empty for none
	do      func()
	choices []*fyne.MenuItem // a menu instead of do
}

func (a messageAction) menuItem() *fyne.MenuItem {
	item := fyne.NewMenuItem(a.text, a.do)
	if len(a.choices) > 0 {
		item.ChildMenu = fyne.NewMenu("", a.choices...)
	}
	return item
}

// showActions shows the buttons of the message under the mouse, and hides those of the one before.
func (p rowFactory) showActions(m *transcript.MessageView, d messageData) {
	if p.pointed == m && p.pointedID == d.id {
		return
	}
	if p.pointed != nil {
		p.pointed.SetActions()
	}
	p.Pane.pointed, p.Pane.pointedID = m, d.id
	button := func(text string, do func()) fyne.CanvasObject {
		b := widgets.NewQuietButton(text, "", do)
		b.Muted, b.Small = true, true
		return b
	}
	list := []fyne.CanvasObject{button("Copy", func() { copyText(p.source(d)) })}
	for _, a := range p.messageActions(d) {
		if a.short != "" {
			list = append(list, button(a.short, a.do))
		}
	}
	m.SetActions(list...)
}

// messageActions returns what can be done with a stored message, besides copying it.
func (p rowFactory) messageActions(d messageData) []messageAction {
	m := p.state.storedMessage(d.id)
	if p.readOnly || m == nil || m.Compaction != nil {
		return nil
	}
	id := m.ID
	remove := func(text, what string) messageAction {
		return messageAction{text: text, do: func() { p.handlers.DeleteMessage(id, what) }}
	}
	fork := messageAction{short: "Fork", text: "Fork from here"}
	switch {
	case m.Origin == protocol.OriginDirect:
		return []messageAction{remove("Delete command", "The command")}
	case m.Role == protocol.RoleUser && m.Origin == protocol.OriginPerson:
		content := *m
		fork.do = func() { p.handlers.Fork(id, content.Content) }
		edit := messageAction{short: "Edit", text: "Edit and resend", do: func() { p.composer.edit(content) }}
		return []messageAction{edit, fork, remove("Delete message", "The message")}
	case m.Role == protocol.RoleAssistant:
		fork.do = func() { p.handlers.Fork(id, nil) }
		again := messageAction{short: "Regenerate", text: "Regenerate", do: func() { p.resend(protocol.ChatResendParams{MessageID: id}) }}
		return []messageAction{again, p.regenerateWith(id), fork, remove("Delete answer", "The answer")}
	}
	return nil
}

// regenerateWith offers the other models for an answer.
func (p rowFactory) regenerateWith(id protocol.MessageID) messageAction {
	a := messageAction{text: "Regenerate with"}
	for _, m := range p.state.Models {
		a.choices = append(a.choices, fyne.NewMenuItem(cmp.Or(m.Name, m.Ref.ID), func() {
			p.resend(protocol.ChatResendParams{MessageID: id, Model: &m.Ref})
		}))
	}
	return a
}
