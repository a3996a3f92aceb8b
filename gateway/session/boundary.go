package session

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// summaryOf returns the summary of the messages up to cut, and its index in msgs, or -1.
func summaryOf(msgs []protocol.Message, cut int64) (string, int) {
	for i := len(msgs) - 1; i >= 0 && cut > 0; i-- {
		if c := msgs[i].Compaction; c != nil && c.Through == cut {
			return strings.TrimPrefix(msgs[i].Content.Text(), shortened), i
		}
	}
	return "", -1
}

// view returns the messages that the model reads: the summary of the removed messages, as a message
// of its own, followed by the rest.
func view(msgs []protocol.Message, cut int64) []protocol.Message {
	summary, at := summaryOf(msgs, cut)
	if at < 0 {
		return msgs
	}
	first := msgs[at]
	first.Origin, first.Content = protocol.OriginPerson, protocol.Content{protocol.Text("[Summary of the conversation so far, made by the program]\n" + summary)}
	return append([]protocol.Message{first}, msgs...)
}

// outline replaces the summary when no model is available: it lists the person's requests in short.
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

// lastAsked returns the person's last message. ok is false when that message is retained anyway.
func lastAsked(msgs []protocol.Message, at int) (string, bool) {
	for i, msg := range slices.Backward(msgs) {
		if msg.Role == protocol.RoleUser && msg.Origin == protocol.OriginPerson {
			return msg.Content.Text(), i < at && msg.Content.Text() != ""
		}
	}
	return "", false
}

// boundary returns the greatest position up to want at which a conversation can be cut without
// separating a call from its result, or 0. It prefers the position before a message of the person,
// if that retains at most slack times as many messages.
func boundary(msgs []protocol.Message, want int, slack float64) int {
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
