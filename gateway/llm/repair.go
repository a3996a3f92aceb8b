package llm

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
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
		case m.Role == protocol.RoleToolResult: // placed after its call
		case len(m.Content) == 0:
		case m.Role != protocol.RoleAssistant:
			out = append(out, m)
		default:
			m = used.unique(m)
			out = append(out, m)
			for n, c := range m.Content.Calls() {
				result := unknownOutcome(m, c)
				if at, ok := results[callAt{i, n}]; ok {
					result = messages[at]
				}
				result.ToolCallID = c.ID
				out = append(out, result)
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
	commandPrefix = "[The person ran a command themself] "
	resultPrefix  = "[What the person's own command returned]\n"
)

func describeCommand(m protocol.Message) protocol.Message {
	text := m.Content.Text()
	for _, c := range m.Content.Calls() {
		text = strings.TrimSpace(text + "\n" + c.Name + " " + string(c.Arguments))
	}
	switch {
	case strings.HasPrefix(text, commandPrefix), strings.HasPrefix(text, resultPrefix):
	case m.Role == protocol.RoleToolResult:
		text = resultPrefix + text
	default:
		text = commandPrefix + text
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
	out := slices.Clone(c)
	for i, b := range c {
		if b.Type == protocol.BlockImage {
			out[i] = protocol.Text(strings.Replace(fmt.Sprintf("[image %s, which this model cannot see]", b.Filename), " ,", ",", 1))
		}
	}
	return out
}

// maxCallID is the longest ID that is generated here: OpenAI accepts no longer one.
const maxCallID = 40

// ids are those of the calls of a conversation so far, normalized by plain, with the last number
// given to each. Some servers number calls anew in each answer, and others refuse a conversation
// with a duplicate ID.
type ids map[string]int

// PlainID returns an ID as seen by servers that accept only letters, digits, _ and -; two IDs that
// are equal there count as equal.
func PlainID(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// assign returns the ID, or a variant if it was used before. The result depends only on the
// conversation so far, so that a conversation always gets the same IDs.
func (u ids) assign(id string) string {
	key, out := PlainID(id), id
	n := u[key]
	for u[PlainID(out)] > 0 {
		n++
		tail := "_" + strconv.Itoa(n)
		out = id[:min(len(id), maxCallID-len(tail))] + tail
	}
	u[key] = max(n, 1)
	u[PlainID(out)] = max(u[PlainID(out)], 1)
	return out
}

// unique gives the calls of an answer IDs that no earlier call has. The given message is not
// changed.
func (u ids) unique(m protocol.Message) protocol.Message {
	m.Content = slices.Clone(m.Content)
	for i, b := range m.Content {
		if b.Type == protocol.BlockToolCall {
			m.Content[i].ID = u.assign(b.ID)
		}
	}
	return m
}

// nameMapper is a model that gets the tools of every node under names that model APIs accept.
// Outside of it the tools have their own names.
type nameMapper struct{ Model }

// FitNames wraps a model so that it gets [protocol.ToolName.ForModel] of each tool, in the list of
// tools and in the conversation, and converts the names in its calls back. Of tools with the same name
// it gets the first.
func FitNames(m Model) Model { return nameMapper{m} }

// Stream implements [Model].
func (f nameMapper) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	back := make(map[string]string) // by the name that the model gets
	tools := req.Tools
	req.Tools = nil
	for _, t := range tools {
		name := string(protocol.ToolName(t.Name).ForModel())
		if _, isTaken := back[name]; isTaken {
			continue // providers refuse a request with two tools of the same name
		}
		back[name], t.Name = t.Name, name
		req.Tools = append(req.Tools, t)
	}
	req.Messages = withModelNames(req.Messages)
	return func(yield func(Event, error) bool) {
		for e, err := range f.Model.Stream(ctx, req) {
			if name, ok := back[e.Block.Name]; ok {
				e.Block.Name = name
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// withModelNames does not change its argument, which is the stored conversation.
func withModelNames(list []protocol.Message) []protocol.Message {
	out := slices.Clone(list)
	for i, m := range out {
		out[i].ToolName, out[i].Content = m.ToolName.ForModel(), slices.Clone(m.Content)
		for j, b := range m.Content {
			if b.Type == protocol.BlockToolCall {
				out[i].Content[j].Name = string(protocol.ToolName(b.Name).ForModel())
			}
		}
	}
	return out
}
