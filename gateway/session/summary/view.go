package summary

import (
	"fmt"
	"slices"
	"strings"

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
	fmt.Fprintf(&b, "\n\nNo summary could be made of %s. The person wrote, beginning with the latest:", protocol.Plural(len(old), "message"))
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
