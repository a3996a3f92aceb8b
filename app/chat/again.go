package chat

import (
	"fyne.io/fyne/v2"

	"fairlead/gateway/protocol"
)

// againMenu offers to send a message of the person once more, as it was or changed, and to ask for another answer.
func (p *Pane) againMenu(d messageData) []*fyne.MenuItem {
	if p.h.Send == nil || p.reader {
		return nil
	}
	if m := p.stored(d.id); m != nil && m.Role == protocol.RoleUser && m.Origin == protocol.OriginPerson {
		text := m.Content.Text()
		return []*fyne.MenuItem{
			fyne.NewMenuItem("Edit and send again", func() {
				p.SetDraft(text)
				p.FocusComposer()
			}),
			fyne.NewMenuItem("Send again", func() { p.sendAgain(text) }),
		}
	}
	if asked := p.asked(d); asked != "" {
		return []*fyne.MenuItem{fyne.NewMenuItem("Answer again", func() { p.sendAgain(asked) })}
	}
	return nil
}

func (p *Pane) sendAgain(text string) {
	p.transcript.ScrollToEnd()
	p.h.Send(text, nil, p.composer.node)
}

func (p *Pane) stored(id protocol.MessageID) *protocol.Message {
	for i := len(p.state.Messages) - 1; i >= 0 && id != ""; i-- {
		if m := &p.state.Messages[i]; m.ID == id {
			return m
		}
	}
	return nil
}

// asked is what the person said before an answer.
func (p *Pane) asked(d messageData) string {
	text := ""
	for i := range p.state.Messages {
		m := &p.state.Messages[i]
		if m.Role == protocol.RoleUser && m.Origin == protocol.OriginPerson {
			text = m.Content.Text()
		}
		if m.ID == d.id {
			return text
		}
	}
	return ""
}
