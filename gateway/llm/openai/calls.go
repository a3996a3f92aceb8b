package openai

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// call is a tool call that is being streamed.
type call struct {
	key     string // identifies the call in the server's events
	id      string
	name    string
	args    strings.Builder
	started bool // EventCallStart was emitted
	done    bool // EventCall was emitted
	extra   json.RawMessage
}

// calls collects the tool calls of one answer, in the order of their starts.
type calls struct {
	list []*call
	by   map[string]*call
}

func (c *calls) open(key string) *call {
	n := &call{key: key}
	if c.by == nil {
		c.by = map[string]*call{}
	}
	c.by[key] = n
	c.list = append(c.list, n)
	return n
}

func (c *calls) index(n *call) int {
	for i, x := range c.list {
		if x == n {
			return i
		}
	}
	return -1
}

func (c *calls) last() *call {
	if len(c.list) == 0 {
		return nil
	}
	return c.list[len(c.list)-1]
}

// named appends to n's name, which some servers send in pieces. Others repeat it, or its prefix so
// far. It is complete when the arguments begin.
func (n *call) named(piece string) {
	switch {
	case n.args.Len() > 0 && n.name != "":
	case strings.HasPrefix(piece, n.name):
		n.name = piece
	default:
		n.name += piece
	}
}

// add appends a piece to n's arguments and emits the resulting events.
func (c *calls) add(n *call, piece string, emit func(llm.Event)) {
	if piece == "" {
		return
	}
	c.start(n, emit)
	n.args.WriteString(piece)
	if n.started {
		emit(llm.Event{Type: llm.EventCallDelta, Index: c.index(n), Text: piece})
	}
}

// start emits the start of a call, if its name is known.
func (c *calls) start(n *call, emit func(llm.Event)) {
	if n.started || n.name == "" {
		return
	}
	n.started = true
	if n.id == "" {
		n.id = "call_" + rand.Text()[:16]
	}
	emit(llm.Event{Type: llm.EventCallStart, Index: c.index(n), Block: protocol.Block{Type: protocol.BlockToolCall, ID: n.id, Name: n.name}})
	if n.args.Len() > 0 { // arguments that came before the name
		emit(llm.Event{Type: llm.EventCallDelta, Index: c.index(n), Text: n.args.String()})
	}
}

// finish emits a complete call, even one without a name: the model must get an error for it.
func (c *calls) finish(n *call, emit func(llm.Event), opaque json.RawMessage) {
	if n.done {
		return
	}
	n.done = true
	if n.name == "" {
		n.name = "unknown"
	}
	c.start(n, emit)
	ev := llm.Event{Type: llm.EventCall, Index: c.index(n), Block: protocol.Block{Type: protocol.BlockToolCall, ID: n.id, Name: n.name, Opaque: opaque}}
	ev.Block.Arguments, ev.BadArgs = arguments(n.args.String())
	emit(ev)
}

// arguments converts a model's text to a JSON object. Empty text is an empty object; an object that
// was encoded twice, as some servers do, is decoded. Anything else is bad.
func arguments(text string) (args json.RawMessage, bad string) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || trimmed == "null" {
		return json.RawMessage("{}"), ""
	}
	if strings.HasPrefix(trimmed, `"`) {
		var inner string
		if json.Unmarshal([]byte(trimmed), &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") {
			trimmed = inner
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(trimmed), &object); err != nil {
		return json.RawMessage("{}"), text
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(trimmed)); err != nil {
		return json.RawMessage("{}"), text
	}
	return compact.Bytes(), ""
}
