package conversation

import (
	"time"

	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// revealTime is how long a revealed message stays highlighted.
const revealTime = 3 * time.Second

// reveal brings a message into view and highlights it briefly: now, or as soon as it is loaded.
type reveal struct {
	list    *transcript.View
	id      protocol.MessageID // message that is still to be revealed; empty for none
	text    string             // text to find in it; may be empty
	shownAt time.Time          // when a row was highlighted; zero for none
}

// show reveals the message if it has a row, and returns the row and the text to find in it.
func (r *reveal) show(rows map[protocol.MessageID]string, now time.Time) (key, text string) {
	key, ok := rows[r.id]
	if r.id == "" || !ok || !r.list.ScrollTo(key, 0) {
		return "", ""
	}
	r.id, r.shownAt = "", now
	r.list.Highlight(key)
	return key, r.text
}

// expire ends the highlight when its time is over.
func (r *reveal) expire(now time.Time) {
	if !r.shownAt.IsZero() && now.Sub(r.shownAt) >= revealTime {
		r.end()
	}
}

func (r *reveal) end() {
	r.shownAt = time.Time{}
	r.list.Highlight("")
}

// positions are the scroll positions that the reader left, by conversation.
type positions struct {
	list    *transcript.View
	left    map[protocol.SessionKey]position
	restore bool // a position shall be restored once the conversation is loaded
}

// position is the scroll position that the reader left, and the end of the conversation then.
type position struct {
	key     string // key of the row at the top of the view
	offset  float32
	lastKey string
}

// leave remembers the position in a conversation. The end of one is not a position.
func (p *positions) leave(from protocol.SessionKey) {
	items := p.list.Items()
	if key, into := p.list.Top(); p.list.AtEnd() || key == "" {
		delete(p.left, from)
	} else {
		p.left[from] = position{key, into, items[len(items)-1].Key}
	}
	p.restore = true
}

// enter restores the position in a loaded conversation, unless it has new messages.
func (p *positions) enter(to protocol.SessionKey) {
	items := p.list.Items()
	if !p.restore || len(items) == 0 {
		return
	}
	p.restore = false
	if at := p.left[to]; at.key != "" && items[len(items)-1].Key == at.lastKey {
		p.list.ScrollTo(at.key, at.offset)
	}
}
