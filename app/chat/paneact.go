package chat

import (
	"cmp"

	"fyne.io/fyne/v2"

	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Stop stops the run in progress; it reports whether there was one.
func (p *Pane) Stop() bool { return p.composer.entry.onStop() }

func (p *Pane) running() bool {
	for _, r := range p.state.Runs {
		if !r.Over() && r.State != protocol.RunQueued {
			return true
		}
	}
	return false
}

func (p *Pane) copyText(s string) { fyne.CurrentApp().Clipboard().SetContent(s) }

// act performs the action of a notice's or problem's button.
func (p *Pane) act(what string, run protocol.RunID) {
	var f func()
	switch what {
	case actSettings:
		f = p.h.Settings
	case actReset:
		f = p.h.Reset
	case actReload:
		f = p.h.Reload
	case actResume:
		f = p.h.Resume
	case actRetry:
		p.retry(run)
	}
	if f != nil {
		f()
	}
}

// retry sends the message of a run again.
func (p *Pane) retry(run protocol.RunID) {
	text := ""
	for _, r := range p.state.Runs {
		if r.RunID == run {
			text = r.Message
		}
	}
	var said protocol.Content
	for i := len(p.state.Messages) - 1; i >= 0; i-- {
		m := p.state.Messages[i]
		if m.Role != protocol.RoleUser || m.RunID != run && m.RunID != "" {
			continue
		}
		said = m.Content
		if m.Origin == protocol.OriginEvent {
			c, _ := m.Completion()
			text = cmp.Or(text, c.Words(string(c.NodeID)))
		}
		text = cmp.Or(text, said.Text())
		break
	}
	p.sendAgain(text, said)
}

// newEmpty shows the suggestions of an empty chat; each one sends a real request.
func (p *Pane) newEmpty() fyne.CanvasObject {
	chip := func(text, icon string) fyne.CanvasObject {
		return widgets.NewChip(text, icon, func() {
			if p.h.Send != nil {
				p.composer.entry.remember(text)
				p.h.Send(text, nil, p.composer.node)
			}
		})
	}
	return widgets.NewEmptyState("", "What would you like to do?", "Ask in plain words. Nothing is changed until you have seen and allowed it. Start with ! to run a command yourself.",
		chip("run ls -la", "terminal"), chip("list the Go files", "list"), chip("read README.md", "file"), chip("what can you do", "question"))
}
