package session

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// summaryOf is the summary that stands for what was cut off, and where it is in msgs.
func summaryOf(msgs []protocol.Message, cut int64) (string, int) {
	for i := len(msgs) - 1; i >= 0 && cut > 0; i-- {
		if c := msgs[i].Compaction; c != nil && c.Through == cut {
			return strings.TrimPrefix(msgs[i].Content.Text(), shortened), i
		}
	}
	return "", -1
}

// view is what the model reads of a chat: the summary of what was cut off, as a message of its own, and the rest.
func view(msgs []protocol.Message, cut int64) []protocol.Message {
	summary, at := summaryOf(msgs, cut)
	if at < 0 {
		return msgs
	}
	first := msgs[at]
	first.Origin, first.Content = protocol.OriginPerson, protocol.Content{protocol.Text("[Summary of the conversation so far, made by the program]\n" + summary)}
	return append([]protocol.Message{first}, msgs...)
}

// outline stands in where no model condenses: what the person asked for, in short.
func outline(previous string, old []protocol.Message) string {
	var b strings.Builder
	b.WriteString(previous)
	fmt.Fprintf(&b, "\n\nNo summary could be made of %s. The person wrote, beginning with the latest:", messages(len(old)))
	n := 0
	for _, msg := range slices.Backward(old) {
		if text := msg.Content.Text(); msg.Role == protocol.RoleUser && msg.Origin == protocol.OriginPerson && text != "" && n < 20 {
			fmt.Fprintf(&b, "\n- %s", ends(strings.Join(strings.Fields(text), " "), 200))
			n++
		}
	}
	return strings.TrimSpace(b.String())
}

// lastAsked is what the person said last, when that is not among what is kept.
func lastAsked(msgs []protocol.Message, at int) (string, bool) {
	for i, msg := range slices.Backward(msgs) {
		if msg.Role == protocol.RoleUser && msg.Origin == protocol.OriginPerson {
			return msg.Content.Text(), i < at && msg.Content.Text() != ""
		}
	}
	return "", false
}

// boundary is the greatest place up to want where a conversation can be cut: not between a call and its result. A place before a message of the
// person is taken instead when that keeps at most slack times as much. 0 is none.
func boundary(msgs []protocol.Message, want int, slack float64) int {
	if want <= 0 || want >= len(msgs) {
		return 0
	}
	open := map[string]bool{}
	last, ask := 0, 0
	for i, msg := range msgs[:want+1] {
		if msg.Role == protocol.RoleUser && !msg.Beside() {
			clear(open) // calls of a turn that was given up get no result any more
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
