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

// messageRows creates the rows of messages. The one under the mouse shows buttons.
type messageRows struct {
	chat     *conversation
	list     *transcript.View
	choices  *choices
	composer *composer
	requests *requests
	pictures *pictures

	pointed   *transcript.MessageView // the message whose buttons are shown, or nil
	pointedID protocol.MessageID      // of that message; empty while it is streamed
}

func newMessageRows(chat *conversation, list *transcript.View, seen *choices, c *composer, again *requests) *messageRows {
	return &messageRows{
		chat: chat, list: list, choices: seen, composer: c, requests: again,
		pictures: newPictures(list, func(key string, done func([]byte, error)) { chat.handlers.Media(key, done) }),
	}
}

func (r *messageRows) row() *row {
	var d messageData
	var key string
	m := transcript.NewMessageView()
	m.Forward, m.OnCopy, m.OnPress = r.list.Scrolled, copyText, r.list.Selection.Press
	m.OnLink = func(u *url.URL) { r.chat.handlers.OpenURL(u.String()) }
	m.OnImage = func(i int) {
		if keys := strings.Split(d.images, "\n"); i < len(keys) {
			r.chat.handlers.OpenImage(r.pictures.loaded[keys[i]])
		}
	}
	m.OnHover = func() { r.showActions(m, d) }
	m.OnMenu = func(at fyne.Position) {
		raw := fyne.NewMenuItem("Show Markdown source", func() {
			r.choices.showSource[key] = !r.choices.showSource[key]
			m.SetRaw(r.choices.showSource[key])
			r.list.HeightChanged()
		})
		raw.Checked = r.choices.showSource[key]
		var more []*fyne.MenuItem
		if !d.plain {
			more = append(more, raw)
		}
		for i, a := range r.actionsOf(d) {
			if i == 0 {
				more = append(more, fyne.NewMenuItemSeparator())
			}
			more = append(more, a.menuItem())
		}
		copyMenu(r.list, m, at, "Copy message", r.chat.source(d), more...)
	}
	made := newRow(0, m, nil)
	made.bind = func(i transcript.Item) {
		if i.Key != key && r.pointed == m { // the row shows another message now
			m.SetActions()
			r.pointed = nil
		}
		d, key = i.Data.(messageData), i.Key
		made.top = widgets.Choose(d.sender != "", style.Group, style.Gap)
		m.SetRaw(r.choices.showSource[key])
		m.Set(transcript.Message{Sender: d.sender, Time: d.time, FullTime: d.fullTime, Text: d.text, Plain: d.plain, Images: r.pictures.of(d.images)})
	}
	return made
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
func (r *messageRows) showActions(m *transcript.MessageView, d messageData) {
	if r.pointed == m && r.pointedID == d.id {
		return
	}
	if r.pointed != nil {
		r.pointed.SetActions()
	}
	r.pointed, r.pointedID = m, d.id
	button := func(text string, do func()) fyne.CanvasObject {
		b := widgets.NewQuietButton(text, "", do)
		b.Muted, b.Small = true, true
		return b
	}
	list := []fyne.CanvasObject{button("Copy", func() { copyText(r.chat.source(d)) })}
	for _, a := range r.actionsOf(d) {
		if a.short != "" {
			list = append(list, button(a.short, a.do))
		}
	}
	m.SetActions(list...)
}

// actionsOf returns what can be done with a stored message, besides copying it.
func (r *messageRows) actionsOf(d messageData) []messageAction {
	m := r.chat.state.storedMessage(d.id)
	if r.chat.readOnly || m == nil || m.Compaction != nil {
		return nil
	}
	id := m.ID
	remove := func(text, what string) messageAction {
		return messageAction{text: text, do: func() { r.chat.handlers.DeleteMessage(id, what) }}
	}
	fork := messageAction{short: "Fork", text: "Fork from here"}
	switch {
	case m.Origin == protocol.OriginDirect:
		return []messageAction{remove("Delete command", "The command")}
	case m.Role == protocol.RoleUser && m.Origin == protocol.OriginPerson:
		content := *m
		fork.do = func() { r.chat.handlers.Fork(id, content.Content) }
		edit := messageAction{short: "Edit", text: "Edit and resend", do: func() { r.composer.edit(content) }}
		return []messageAction{edit, fork, remove("Delete message", "The message")}
	case m.Role == protocol.RoleAssistant:
		fork.do = func() { r.chat.handlers.Fork(id, nil) }
		again := messageAction{short: "Regenerate", text: "Regenerate", do: func() { r.requests.resend(protocol.ChatResendParams{MessageID: id}) }}
		return []messageAction{again, r.regenerateWith(id), fork, remove("Delete answer", "The answer")}
	}
	return nil
}

// regenerateWith offers the other models for an answer.
func (r *messageRows) regenerateWith(id protocol.MessageID) messageAction {
	a := messageAction{text: "Regenerate with"}
	for _, m := range r.chat.state.Models {
		a.choices = append(a.choices, fyne.NewMenuItem(cmp.Or(m.Name, m.Ref.ID), func() {
			r.requests.resend(protocol.ChatResendParams{MessageID: id, Model: &m.Ref})
		}))
	}
	return a
}
