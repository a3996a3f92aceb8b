package conversation

import (
	"net/url"
	"strings"

	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// messageRows creates the rows of messages. The one under the mouse shows buttons.
type messageRows struct {
	chat     *shown
	list     *transcript.View
	choices  *choices
	pictures *pictures

	pointed   *transcript.MessageView // the message whose buttons are shown, or nil
	pointedID protocol.MessageID      // of that message; empty while it is streamed
}

func newMessageRows(chat *shown, list *transcript.View, seen *choices) *messageRows {
	return &messageRows{
		chat: chat, list: list, choices: seen,
		pictures: newPictures(list, chat.media),
	}
}

func (r *messageRows) row() *row {
	var d messageData
	var key string
	m := transcript.NewMessageView()
	m.Forward, m.OnCopy, m.OnPress = r.list.Scrolled, copyText, r.list.Selection.Press
	m.OnLink = func(u *url.URL) { r.chat.host.Open(host.URL(u.String())) }
	m.OnImage = func(i int) {
		if keys := strings.Split(d.images, "\n"); i < len(keys) {
			r.chat.host.Open(host.Picture{Resource: r.pictures.loaded[keys[i]]})
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
		if a.Short != "" {
			list = append(list, button(a.Short, a.Do))
		}
	}
	m.SetActions(list...)
}

// actionsOf returns what can be done with a stored message, besides copying it.
func (r *messageRows) actionsOf(d messageData) []Action {
	m := r.chat.state.Stored(d.id)
	if r.chat.author == nil || m == nil || m.Compaction != nil {
		return nil
	}
	return r.chat.author.Actions(*m)
}
