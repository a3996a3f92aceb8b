package summary

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// Notice is the beginning of the notice about a compaction.
const Notice = "This chat was shortened: the agent continues from this summary of the earlier messages. The messages themselves are archived; /compact undo brings them back.\n\n"

// Find returns the summary of the messages up to cut, and its index in msgs, or -1.
func Find(msgs []protocol.Message, cut int64) (string, int) {
	for i := len(msgs) - 1; i >= 0 && cut > 0; i-- {
		if c := msgs[i].Compaction; c != nil && c.Through == cut {
			return strings.TrimPrefix(msgs[i].Content.Text(), Notice), i
		}
	}
	return "", -1
}

// View returns the messages that the model reads: the summary of the removed messages, as a message
// of its own, followed by the rest.
func View(msgs []protocol.Message, cut int64) []protocol.Message {
	summary, at := Find(msgs, cut)
	if at < 0 {
		return msgs
	}
	first := msgs[at]
	first.Origin, first.Content = protocol.OriginPerson, protocol.Content{protocol.Text("[Summary of the conversation so far, made by the program]\n" + summary)}
	return append([]protocol.Message{first}, msgs...)
}

// Outline replaces the summary when no model is available: it lists the person's requests in short.
func Outline(previous string, old []protocol.Message) string {
	var b strings.Builder
	b.WriteString(previous)
	fmt.Fprintf(&b, "\n\nNo summary could be made of %s. The person wrote, beginning with the latest:", display.Plural(len(old), "message"))
	n := 0
	for _, msg := range slices.Backward(old) {
		if text := msg.Content.Text(); msg.Role == protocol.RoleUser && msg.Origin == protocol.OriginPerson && text != "" && n < 20 {
			fmt.Fprintf(&b, "\n- %s", Shorten(strings.Join(strings.Fields(text), " "), 200))
			n++
		}
	}
	return strings.TrimSpace(b.String())
}

// LastRequest returns the person's last message. ok is false when that message is retained anyway.
func LastRequest(msgs []protocol.Message, at int) (string, bool) {
	for i, msg := range slices.Backward(msgs) {
		if msg.Role == protocol.RoleUser && msg.Origin == protocol.OriginPerson {
			return msg.Content.Text(), i < at && msg.Content.Text() != ""
		}
	}
	return "", false
}

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
