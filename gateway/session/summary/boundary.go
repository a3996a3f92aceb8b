package summary

import (
	"slices"

	"fairlead/gateway/protocol"
)

// Boundary returns the greatest position up to want at which a conversation can be cut without
// separating a call from its result, or 0. It prefers the position before a message of the person,
// if that retains at most slack times as many messages.
func Boundary(msgs []protocol.Message, want int, slack float64) int {
	if want <= 0 || want >= len(msgs) {
		return 0
	}
	open := map[string]bool{}
	last, ask := 0, 0
	for i, msg := range msgs[:want+1] {
		if msg.Role == protocol.RoleUser && !msg.OutsideConversation() {
			clear(open) // calls of an abandoned turn will get no results
		}
		if i > 0 && len(open) == 0 && msg.Role != protocol.RoleToolResult && msg.Origin != protocol.OriginNotice {
			last = i
			if msg.Role == protocol.RoleUser {
				ask = i
			}
		}
		if msg.Origin != protocol.OriginPerson {
			continue
		}
		switch msg.Role {
		case protocol.RoleToolResult:
			delete(open, msg.ToolCallID)
		case protocol.RoleAssistant:
			for _, c := range msg.Content.Calls() {
				open[c.ID] = true
			}
		}
	}
	if ask > 0 && float64(len(msgs)-ask) <= slack*float64(len(msgs)-want) {
		return ask
	}
	return last
}

// Position returns the position behind which the last keep messages of a conversation are, or 0
// when it has no more than keep. Compacting twice to the same number changes nothing the second
// time, as in the original system, because the notice about a compaction does not count.
func Position(msgs []protocol.Message, keep int) int {
	for i, msg := range slices.Backward(msgs) {
		if msg.Compaction != nil {
			continue
		}
		if keep--; keep == 0 {
			return i
		}
	}
	return 0
}

// Count returns the number of messages, without notices about compactions.
func Count(msgs []protocol.Message) (n int) {
	for _, msg := range msgs {
		if msg.Compaction == nil {
			n++
		}
	}
	return n
}
