package operator

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// Info describes the operator as a model.
var Info = protocol.ModelInfo{ID: "built-in", Name: "Built-in operator", Tools: true}

// Model implements llm.Model. The zero value is ready to use.
type Model struct{}

// Stream answers the person's last message with tool calls or text.
func (Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		text, calls := answer(req)
		for _, piece := range pieces(text) {
			if ctx.Err() != nil {
				yield(llm.Event{}, context.Cause(ctx))
				return
			}
			if !yield(llm.Event{Type: llm.EventText, Text: piece}, nil) {
				return
			}
		}
		for i, c := range calls {
			raw, err := protocol.Marshal(c.in)
			if err != nil {
				yield(llm.Event{}, err)
				return
			}
			block := protocol.Block{Type: protocol.BlockToolCall, ID: fmt.Sprintf("op_%d_%d", len(req.Messages), i), Name: string(c.name)}
			begin := llm.Event{Type: llm.EventCallStart, Index: i, Block: block}
			block.Arguments = raw
			if !yield(begin, nil) || !yield(llm.Event{Type: llm.EventCallDelta, Index: i, Text: string(block.Arguments)}, nil) ||
				!yield(llm.Event{Type: llm.EventCall, Index: i, Block: block}, nil) {
				return
			}
		}
		stop := llm.StopEnd
		if len(calls) > 0 {
			stop = llm.StopToolUse
		}
		yield(llm.Event{Type: llm.EventStop, Stop: stop}, nil)
	}
}

// pieces cuts a text into a few words each, as a model would stream it.
func pieces(text string) []string {
	var out []string
	for len(text) > 0 {
		n := min(len(text), 24)
		if i := strings.IndexByte(text[n:], ' '); i >= 0 {
			n += i + 1
		} else {
			n = len(text)
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// call is a tool call to make.
type call struct {
	name protocol.ToolName
	in   args
}

type args map[string]any

// answer returns the next text and calls. Calls that the person ran directly and notices of the
// gateway are not requests.
func answer(req llm.Request) (string, []call) {
	last := -1
	for i, m := range req.Messages {
		if m.Role == protocol.RoleUser && !m.OutsideConversation() {
			last = i
		}
	}
	if last < 0 {
		return help(machineToolsOf(req)), nil
	}
	since := req.Messages[last+1:]
	for _, m := range since {
		if m.Role == protocol.RoleToolResult && m.Origin == protocol.OriginPerson {
			return report(since), nil
		}
	}
	if m := req.Messages[last]; m.Origin == protocol.OriginEvent {
		c, _ := m.Completion()
		return completionText(c), nil
	}
	return plan(machineToolsOf(req), req.Messages[last].Content.Text())
}
