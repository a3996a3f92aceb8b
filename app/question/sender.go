package question

import (
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// PendingText describes a stranger who asks for access, and what granting it means.
func PendingText(p protocol.PendingPair) (title, about string) {
	title, _ = wording.Reveal(p.SenderID)
	if name, _ := wording.Reveal(p.SenderName); name != "" && p.SenderName != p.SenderID {
		title = name + " (" + title + ")"
	}
	return title, "Anyone you allow can give the agent tasks. The name is not verified; only the address is."
}
