package chat

import "fairlead/gateway/protocol"

// left is where a reader was in a conversation that they left before its end, and how it ended then.
type left struct {
	key  string // of the row at the top of the view
	into float32
	last string
}

// leave keeps where the reader is.
func (p *Pane) leave(from protocol.SessionKey) {
	items := p.transcript.Items()
	key, into := p.transcript.Top()
	if p.transcript.AtEnd() || key == "" {
		delete(p.left, from)
		return
	}
	p.left[from] = left{key, into, items[len(items)-1].Key}
}

// comeBack goes where the reader was, once that is loaded, unless something new was said since.
func (p *Pane) comeBack() {
	at, items := p.left[p.state.Session.SessionKey], p.transcript.Items()
	if !p.back || p.state.Loading || len(items) == 0 {
		return
	}
	p.back = false
	if at.key != "" && items[len(items)-1].Key == at.last {
		p.transcript.ScrollInto(at.key, at.into)
	}
}
