package question

import (
	"time"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// SenderWords are the words about an unknown sender on a channel.
func SenderWords(q protocol.Question, _ feed.View, _ time.Time) Words {
	title, _ := wording.Reveal(display.SenderQuestion(*q.Sender))
	text, _ := wording.Reveal(format.Line(q.Sender.FirstMessage, 160))
	return Words{Title: title, Body: text}
}

// PendingText describes a stranger who asks for access, and what granting it means.
func PendingText(p protocol.PendingPair) (title, about string) {
	title, _ = wording.Reveal(p.SenderID)
	if name, _ := wording.Reveal(p.SenderName); name != "" && p.SenderName != p.SenderID {
		title = name + " (" + title + ")"
	}
	return title, "Anyone you allow can give the agent tasks. The name is not verified; only the address is."
}
