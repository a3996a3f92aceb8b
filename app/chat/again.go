package chat

import (
	"fyne.io/fyne/v2"

	"fairlead/gateway/protocol"
)

// againMenu offers to send one of the person's messages again, unchanged or edited, and to ask for
// another answer.
func (p *Pane) againMenu(d messageData) []*fyne.MenuItem {
	if p.h.Send == nil || p.reader {
		return nil
	}
	if m := p.stored(d.id); m != nil && m.Role == protocol.RoleUser && m.Origin == protocol.OriginPerson {
		said := m.Content
		return []*fyne.MenuItem{
			fyne.NewMenuItem("Edit and send again", func() {
				p.withPictures(said, func(list []protocol.Attachment) {
					p.SetDraft(said.Text())
					p.SetAttachments(list)
					p.FocusComposer()
				})
			}),
			fyne.NewMenuItem("Send again", func() { p.sendAgain(said.Text(), said) }),
		}
	}
	if said := p.asked(d); said != nil {
		return []*fyne.MenuItem{fyne.NewMenuItem("Answer again", func() { p.sendAgain(said.Text(), said) })}
	}
	return nil
}

// sendAgain sends a text with the pictures of an earlier message.
func (p *Pane) sendAgain(text string, said protocol.Content) {
	if p.h.Send == nil {
		return
	}
	p.withPictures(said, func(list []protocol.Attachment) {
		if text == "" && len(list) == 0 {
			return
		}
		p.transcript.ScrollToEnd()
		p.h.Send(text, list, p.composer.node)
	})
}

// withPictures loads the pictures of a stored message and calls a function with them, if the chat
// is still open then.
func (p *Pane) withPictures(said protocol.Content, do func([]protocol.Attachment)) {
	if imageKeys(said) == "" || p.h.Pictures == nil {
		do(nil)
		return
	}
	key := p.state.Session.SessionKey
	p.h.Pictures(said, func(list []protocol.Attachment) {
		if p.state.Session.SessionKey == key {
			do(list)
		}
	})
}

func (p *Pane) stored(id protocol.MessageID) *protocol.Message {
	for i := len(p.state.Messages) - 1; i >= 0 && id != ""; i-- {
		if m := &p.state.Messages[i]; m.ID == id {
			return m
		}
	}
	return nil
}

// asked returns the person's message before an answer.
func (p *Pane) asked(d messageData) protocol.Content {
	var said protocol.Content
	for i := range p.state.Messages {
		m := &p.state.Messages[i]
		if m.Role == protocol.RoleUser && m.Origin == protocol.OriginPerson {
			said = m.Content
		}
		if m.ID == d.id {
			return said
		}
	}
	return nil
}
