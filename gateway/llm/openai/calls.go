package openai

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

type call struct {
	key      string // identifies the call in the server's events
	index    int
	id       string
	name     string
	args     strings.Builder
	started  bool // EventCallStart was emitted
	finished bool // EventCall was emitted
	extra    json.RawMessage
}

type calls []*call

func (c *calls) open(key string) *call {
	n := &call{key: key, index: len(*c)}
	*c = append(*c, n)
	return n
}

// find returns the last call with the key, or nil.
func (c calls) find(key string) *call {
	for _, n := range slices.Backward(c) {
		if n.key == key {
			return n
		}
	}
	return nil
}

// addName appends to n's name, which some servers send in pieces. Others repeat it, or its prefix
// so far. It is complete when the arguments begin.
func (n *call) addName(piece string) {
	switch {
	case n.args.Len() > 0 && n.name != "":
	case strings.HasPrefix(piece, n.name):
		n.name = piece
	default:
		n.name += piece
	}
}

func (n *call) block() protocol.Block {
	return protocol.Block{Type: protocol.BlockToolCall, ID: n.id, Name: n.name}
}

func (n *call) add(piece string, out *ask.Out) {
	if piece == "" {
		return
	}
	n.start(out)
	n.args.WriteString(piece)
	if n.started {
		out.Emit(llm.Event{Type: llm.EventCallDelta, Index: n.index, Text: piece})
	}
}

// start emits the start of a call, if its name is known.
func (n *call) start(out *ask.Out) {
	if n.started || n.name == "" {
		return
	}
	n.started = true
	n.id = cmp.Or(n.id, "call_"+rand.Text()[:16])
	out.Emit(llm.Event{Type: llm.EventCallStart, Index: n.index, Block: n.block()})
	if n.args.Len() > 0 { // arguments that came before the name
		out.Emit(llm.Event{Type: llm.EventCallDelta, Index: n.index, Text: n.args.String()})
	}
}

// finish emits a complete call, even one without a name: the model must get an error for it.
func (n *call) finish(out *ask.Out, opaque json.RawMessage) {
	if n.finished {
		return
	}
	n.finished = true
	n.name = cmp.Or(n.name, "unknown")
	n.start(out)
	b := n.block()
	b.Opaque = opaque
	out.Call(n.index, b, n.args.String())
}
