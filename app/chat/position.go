package chat

import (
	"time"

	"fairlead/gateway/protocol"
)

// position is the scroll position of a conversation that the reader left while not at its end, and
// the state of its end at that time.
type position struct {
	key     string // key of the row at the top of the view
	offset  float32
	lastKey string
}

// savePosition saves the scroll position.
func (p *Pane) savePosition(from protocol.SessionKey) {
	items := p.transcript.Items()
	key, into := p.transcript.Top()
	if p.transcript.AtEnd() || key == "" {
		delete(p.positions, from)
		return
	}
	p.positions[from] = position{key, into, items[len(items)-1].Key}
}

// restoreSaved restores the scroll position once its row is loaded, unless there are new messages.
func (p *Pane) restoreSaved() {
	at, items := p.positions[p.state.Session.SessionKey], p.transcript.Items()
	if !p.restorePosition || p.state.Loading || len(items) == 0 {
		return
	}
	p.restorePosition = false
	if at.key != "" && items[len(items)-1].Key == at.lastKey {
		p.transcript.ScrollToOffset(at.key, at.offset)
	}
}

// revealTime is how long a revealed message stays highlighted.
const revealTime = 3 * time.Second

// Reveal scrolls to a message and highlights it briefly: now, or as soon as it is loaded.
func (p *Pane) Reveal(id protocol.MessageID) {
	p.revealID = id
	p.revealPending()
}

// PendingReveal returns the message that is still to be revealed, or an empty ID.
func (p *Pane) PendingReveal() protocol.MessageID { return p.revealID }

func (p *Pane) revealPending() {
	key, ok := p.builder.rows[p.revealID]
	if p.revealID == "" || !ok || !p.transcript.ScrollToKey(key) {
		return
	}
	p.revealID, p.revealedAt = "", p.now
	p.transcript.Highlight(key)
}

func (p *Pane) endReveal() {
	p.revealedAt = time.Time{}
	p.transcript.Highlight("")
}

// ScrollToEnd scrolls to the newest message.
func (p *Pane) ScrollToEnd() { p.transcript.ScrollToEnd() }
