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
	widgets.Call(map[string]func(){actionSettings: h.Settings, actionBudget: h.Budget, actionReset: h.Reset, actionReload: h.Reload, actionResume: h.Resume}[what])
}

// retry answers the message of a run again. If the run called tools, the message is sent anew, so
// that the agent knows what was done already.
func (p rowFactory) retry(run protocol.RunID) {
	text := ""
	for _, r := range p.state.Runs {
		if r.RunID == run {
			text = r.Message
		}
	}
	var content protocol.Content
	calledTools := false
	for _, m := range slices.Backward(p.state.Messages) {
		calledTools = calledTools || m.Role == protocol.RoleToolResult
		if m.Role != protocol.RoleUser || m.RunID != run && m.RunID != "" {
			continue
		}
		if m.Origin == protocol.OriginPerson && m.ID != "" && !calledTools {
			p.resend(protocol.ChatResendParams{MessageID: m.ID})
			return
		}
		content = m.Content
		if m.Origin == protocol.OriginEvent {
			c, _ := m.Completion()
			text = cmp.Or(text, c.Words(string(c.NodeID)))
		}
		break
	}
	p.sendAgain(cmp.Or(text, content.Text()), content)
}

// sendAgain sends a text with the pictures of an earlier message as a new one.
func (p rowFactory) sendAgain(text string, content protocol.Content) {
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

// resend replaces a message and what followed it.
func (p rowFactory) resend(in protocol.ChatResendParams) {
	if p.readOnly {
		return
	}
	in.Node = p.composer.machine
	p.transcript.ScrollToEnd()
	p.handlers.Resend(in)
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
