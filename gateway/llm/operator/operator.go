// Package operator is the built-in operator: a small, deterministic agent that understands plain requests and carries them out through the
// same tools, approvals, journal and streaming as a model (DESIGN 8). It answers until a person connects a model, needs no key
// and no network, and never pretends to understand what it does not.
package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// Info describes the operator as a model.
var Info = protocol.ModelInfo{ID: "built-in", Name: "Built-in operator", Tools: true}

// Model implements llm.Model. The zero value is ready.
type Model struct{}

// Stream answers the last message of the person: with tool calls, or with words.
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
			block := protocol.Block{Type: protocol.BlockToolCall, ID: fmt.Sprintf("op_%d_%d", len(req.Messages), i), Name: string(c.name), Arguments: c.args()}
			if !yield(llm.Event{Type: llm.EventCallStart, Index: i, Block: block}, nil) || !yield(llm.Event{Type: llm.EventCall, Index: i, Block: block}, nil) {
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

// pieces cuts a text as a model would stream it: a few words at a time.
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
	in   map[string]any
}

func (c call) args() json.RawMessage {
	raw, err := protocol.Marshal(c.in)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

// answer decides what to say and do next.
func answer(req llm.Request) (string, []call) {
	last := -1
	for i, m := range req.Messages {
		if m.Role == protocol.RoleUser {
			last = i
		}
	}
	if last < 0 {
		return help(newHands(req)), nil
	}
	if results := req.Messages[last+1:]; len(results) > 0 {
		return report(results), nil
	}
	return plan(newHands(req), req.Messages[last].Content.Text())
}

// hands are the machines and their tools.
type hands struct {
	nodes []protocol.NodeID
	tools map[protocol.NodeID]map[string]protocol.ToolName
	first protocol.NodeID // where a request goes that names no machine
}

func newHands(req llm.Request) hands {
	h := hands{tools: make(map[protocol.NodeID]map[string]protocol.ToolName)}
	for _, t := range req.Tools {
		node, bare, ok := protocol.ToolName(t.Name).Split()
		if !ok {
			continue
		}
		if h.tools[node] == nil {
			h.tools[node] = make(map[string]protocol.ToolName)
			h.nodes = append(h.nodes, node)
		}
		h.tools[node][bare] = protocol.ToolName(t.Name)
	}
	if len(h.nodes) > 0 {
		h.first = h.nodes[0]
	}
	if _, after, ok := strings.Cut(req.System, "Default machine: "); ok {
		name, _, _ := strings.Cut(after, "\n")
		if node, ok := h.named(strings.TrimSpace(name)); ok {
			h.first = node
		}
	}
	return h
}

// named finds a machine by its name, without regard to case.
func (h hands) named(name string) (protocol.NodeID, bool) {
	name = strings.TrimPrefix(name, "@")
	for _, n := range h.nodes {
		if strings.EqualFold(string(n), name) {
			return n, true
		}
	}
	return "", false
}

// call makes a call of a tool on a node, or says why it cannot.
func (h hands) call(node protocol.NodeID, bare string, in map[string]any) (call, string) {
	if node == "" {
		node = h.first
	}
	if node == "" {
		return call{}, "No machine is connected, so I have no hands right now."
	}
	name, ok := h.tools[node][bare]
	if !ok {
		return call{}, fmt.Sprintf("%s cannot do that: it has no %s tool.", node, bare)
	}
	return call{name, in}, ""
}
