// Package operator is the built-in operator: a small, deterministic agent that understands plain
// requests, one per line, and carries them out with the same tools, approvals, journal and
// streaming as a model. It answers until the person connects a model. It needs no key and no
// network, and says so when it does not understand a request.
//
//	run make test                                    Bash; also "execute …", "$ …", or a code block under "run:"
//	list files in docs, list *.md, list the Go files Glob
//	find files named notes.txt, find README.md       Glob
//	read README.md, show lines 5-9 of a.go           Read
//	search for TODO in gateway, … in the Go files    Grep, for the literal text
//	replace "old" with "new" in notes.txt            Edit, every occurrence
//	write hello to notes.txt                         Write; also "create notes.txt with hello", or a code block under "write to notes.txt:"
//	send notes.txt to tower                          Transfer, if there is that tool
//	which machines, what can you do                  answered without a tool
//
// "on laptop" before or after a request names the machine. Without it, the machine is the one in
// the system prompt's line "Default machine: …", or else the first that has the tool. A command
// keeps its punctuation, and also an " on NAME" at its end unless NAME is a machine. If one of
// several requests is not understood or cannot be carried out, none of them is.
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
