package chat

import (
	"cmp"
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Stop stops the run in progress; it reports whether there was one.
func (p *Pane) Stop() bool { return p.composer.entry.onStop() }

func copyText(s string) { fyne.CurrentApp().Clipboard().SetContent(s) }

// runAction performs the action of a notice's or problem's button.
func (p rowFactory) runAction(what string, run protocol.RunID) {
	if what == actionRetry {
		p.retry(run)
	}
	h := p.handlers
	widgets.Call(map[string]func(){actionSettings: h.Settings, actionReset: h.Reset, actionReload: h.Reload, actionResume: h.Resume}[what])
}

// retry sends the message of a run again.
func (p rowFactory) retry(run protocol.RunID) {
	text := ""
	for _, r := range p.state.Runs {
		if r.RunID == run {
			text = r.Message
		}
	}
	var content protocol.Content
	for i := len(p.state.Messages) - 1; i >= 0; i-- {
		m := p.state.Messages[i]
		if m.Role != protocol.RoleUser || m.RunID != run && m.RunID != "" {
			continue
		}
		content = m.Content
		if m.Origin == protocol.OriginEvent {
			c, _ := m.Completion()
			text = cmp.Or(text, c.Words(string(c.NodeID)))
		}
		text = cmp.Or(text, content.Text())
		break
	}
	p.resend(text, content)
}

// newEmpty shows the suggestions of an empty chat; each one sends a real request.
func newEmpty(p *Pane) fyne.CanvasObject {
	chip := func(text, icon string) fyne.CanvasObject {
		return widgets.NewChip(text, icon, func() {
			p.composer.entry.remember(text)
			p.handlers.Send(text, nil, p.composer.machine)
		})
	}
	return widgets.NewEmptyState("", "What would you like to do?", "Ask in plain words. Nothing is changed until you have seen and allowed it. Start with ! to run a command yourself.",
		chip("run ls -la", "terminal"), chip("list the Go files", "list"), chip("read README.md", "file"), chip("what can you do", "question"))
}

// resendMenu offers to send a message again, unchanged or edited, and to ask for another answer.
func (p rowFactory) resendMenu(d messageData) []*fyne.MenuItem {
	if p.readOnly {
		return nil
	}
	if m := p.state.storedMessage(d.id); m != nil && m.Role == protocol.RoleUser && m.Origin == protocol.OriginPerson {
		content := m.Content
		return []*fyne.MenuItem{
			fyne.NewMenuItem("Edit and send again", func() {
				p.withPictures(content, func(list []protocol.Attachment) {
					p.SetDraft(content.Text())
					p.SetAttachments(list)
					p.FocusComposer()
				})
			}),
			fyne.NewMenuItem("Send again", func() { p.resend(content.Text(), content) }),
		}
	}
	if content := p.state.questionOf(d); content != nil {
		return []*fyne.MenuItem{fyne.NewMenuItem("Answer again", func() { p.resend(content.Text(), content) })}
	}
	return nil
}

// resend sends a text with the pictures of an earlier message.
func (p rowFactory) resend(text string, content protocol.Content) {
	if p.readOnly {
		return
	}
	p.withPictures(content, func(list []protocol.Attachment) {
		if text == "" && len(list) == 0 {
			return
		}
		p.transcript.ScrollToEnd()
		p.handlers.Send(text, list, p.composer.machine)
	})
}

// withPictures calls a function with the pictures of a message, if the chat is still open then.
func (p rowFactory) withPictures(content protocol.Content, do func([]protocol.Attachment)) {
	if imageKeys(content) == "" {
		do(nil)
		return
	}
	key := p.state.Session.SessionKey
	p.handlers.Pictures(content, func(list []protocol.Attachment) {
		if p.state.Session.SessionKey == key {
			do(list)
		}
	})
}

// storedMessage returns a stored message; nil if it is not loaded.
func (s *State) storedMessage(id protocol.MessageID) *protocol.Message {
	i := slices.IndexFunc(s.Messages, func(m protocol.Message) bool { return m.ID == id })
	if i < 0 || id == "" {
		return nil
	}
	return &s.Messages[i]
}

// questionOf returns the person's message before an answer.
func (s *State) questionOf(d messageData) protocol.Content {
	var content protocol.Content
	for i := range s.Messages {
		m := &s.Messages[i]
		if m.Role == protocol.RoleUser && m.Origin == protocol.OriginPerson {
			content = m.Content
		}
		if m.ID == d.id {
			return content
		}
	}
	return nil
}
