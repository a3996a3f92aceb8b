package chat

import (
	"time"

	"fairlead/gateway/protocol"
)

// markTime is how long a revealed message stays highlighted.
const markTime = 3 * time.Second

// Reveal scrolls to a message and highlights it briefly: now, or as soon as it is loaded.
func (p *Pane) Reveal(id protocol.MessageID) {
	p.wanted = id
	p.reveal()
}

// Wanted returns the message that is still to be revealed, or an empty ID.
func (p *Pane) Wanted() protocol.MessageID { return p.wanted }

func (p *Pane) reveal() {
	key, ok := p.builder.rows[p.wanted]
	if p.wanted == "" || !ok || !p.transcript.ScrollToKey(key) {
		return
	}
	p.wanted, p.marked = "", p.now
	p.transcript.Highlight(key)
}

func (p *Pane) unmark() {
	p.marked = time.Time{}
	p.transcript.Highlight("")
}

// ScrollToEnd scrolls to the newest message.
func (p *Pane) ScrollToEnd() { p.transcript.ScrollToEnd() }
