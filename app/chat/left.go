package chat

import "fairlead/gateway/protocol"

// left is the scroll position of a conversation that the reader left while not at its end, and the
// state of its end at that time.
type left struct {
	key  string // key of the row at the top of the view
	into float32
	last string
}

// leave saves the scroll position.
func (p *Pane) leave(from protocol.SessionKey) {
	items := p.transcript.Items()
	key, into := p.transcript.Top()
	if p.transcript.AtEnd() || key == "" {
		delete(p.left, from)
		return
	}
	p.left[from] = left{key, into, items[len(items)-1].Key}
}

// comeBack restores the scroll position once its row is loaded, unless there are new messages.
func (p *Pane) comeBack() {
	at, items := p.left[p.state.Session.SessionKey], p.transcript.Items()
	if !p.back || p.state.Loading || len(items) == 0 {
		return
	}
	p.back = false
	if at.key != "" && items[len(items)-1].Key == at.last {
		p.transcript.ScrollToOffset(at.key, at.into)
	}
}
