package llm

import (
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// Repair converts a stored conversation to one that every provider accepts. It removes notices, and
// converts calls that the person ran directly to plain text of theirs (still marked with its
// origin). Every tool call is directly followed by its result, in the order of the calls; a missing
// result is made up, because otherwise the chat could never continue. Results without calls are
// dropped, a call with an ID that an earlier one has gets a number, and images become text for a
// model without image support. The given messages are not changed. Repairing twice does no harm.
//
// Signed data of providers is not changed: each provider's package recognizes its own and omits
// that of other models.
func Repair(messages []protocol.Message, info protocol.ModelInfo) []protocol.Message {
	results := pair(messages)
	var out []protocol.Message
	used := ids{}
	for i, m := range messages {
		switch {
		case m.Origin == protocol.OriginNotice:
		case m.Origin == protocol.OriginDirect:
			out = append(out, describeCommand(m))
		case m.Role == protocol.RoleToolResult:
			// placed after its call
		case len(m.Content) == 0:
		default:
			if m.Role != protocol.RoleAssistant {
				out = append(out, m)
				continue
			}
			m = used.unique(m)
			out = append(out, m)
			for n, c := range m.Content.Calls() {
				if at, ok := results[callAt{i, n}]; ok {
					result := messages[at]
					result.ToolCallID = c.ID
					out = append(out, result)
				} else {
					out = append(out, unknownOutcome(m, c))
				}
			}
		}
	}
	if !info.Images {
		for i := range out {
			out[i].Content = withoutPictures(out[i].Content)
		}
	}
	return out
}

// callAt identifies a call: the n-th of a message.
type callAt struct{ message, n int }

// pair finds the result of every call: the first one with its ID after it and before another call
// with that ID, because some servers number their calls anew in each answer.
func pair(messages []protocol.Message) map[callAt]int {
	open := map[string]callAt{}
	found := map[callAt]int{}
	for i, m := range messages {
		if m.OutsideConversation() {
			continue
		}
		switch m.Role {
		case protocol.RoleAssistant:
			for n, c := range m.Content.Calls() {
				open[c.ID] = callAt{i, n}
			}
		case protocol.RoleToolResult:
			if c, ok := open[m.ToolCallID]; ok {
				found[c] = i
				delete(open, m.ToolCallID)
			}
		}
	}
	return found
}

func unknownOutcome(m protocol.Message, call protocol.Block) protocol.Message {
	return protocol.Message{
		RunID: m.RunID, Role: protocol.RoleToolResult, ToolCallID: call.ID, ToolName: protocol.ToolName(call.Name), IsError: true, Timestamp: m.Timestamp,
		Content: protocol.Content{protocol.Text("Error: this call was interrupted; its outcome is unknown.")},
	}
}

const (
	ranThemself   = "[The person ran a command themself] "
	ownCommandSay = "[What the person's own command returned]\n"
)

// describeCommand describes to the model what the person ran directly, and its result.
func describeCommand(m protocol.Message) protocol.Message {
	text := m.Content.Text()
	for _, c := range m.Content.Calls() {
		text = strings.TrimSpace(text + "\n" + c.Name + " " + string(c.Arguments))
	}
	switch {
	case strings.HasPrefix(text, ranThemself), strings.HasPrefix(text, ownCommandSay):
	case m.Role == protocol.RoleToolResult:
		text = ownCommandSay + text
	default:
		text = ranThemself + text
	}
	out := protocol.Message{RunID: m.RunID, Role: protocol.RoleUser, Timestamp: m.Timestamp, Origin: m.Origin, Content: protocol.Content{protocol.Text(text)}}
	for _, b := range m.Content {
		if b.Type == protocol.BlockImage {
			out.Content = append(out.Content, b)
		}
	}
	return out
}

func withoutPictures(c protocol.Content) protocol.Content {
	seen := false
	for _, b := range c {
		seen = seen || b.Type == protocol.BlockImage
	}
	if !seen {
		return c
	}
	out := make(protocol.Content, len(c))
	for i, b := range c {
		if b.Type == protocol.BlockImage {
			b = protocol.Text(strings.Replace(fmt.Sprintf("[image %s, which this model cannot see]", b.Filename), " ,", ",", 1))
		}
		out[i] = b
	}
	return out
}
