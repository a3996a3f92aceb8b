package anthropic

import (
	"cmp"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

type reader struct {
	*ask.Out

	model  string
	blocks map[int64]*openBlock
	order  []int64
	calls  int
	usage  protocol.Usage
	stop   string
	reason string // the provider's sentence about a refusal
}

type openBlock struct {
	kind    string
	out     protocol.Block  // thinking, redacted_thinking, tool_use
	thought strings.Builder // which comes in thousands of pieces
	args    strings.Builder
	index   int // of a call
	closed  bool
}

// Event implements [ask.Reader].
func (r *reader) Event(data ask.Event) error {
	var ev streamEvent
	if err := ask.Decode(data.Data, &ev); err != nil {
		return err
	}
	if data.Name == "error" || ask.IsError(ev.Error) {
		return ask.StreamError(data.Data)
	}
	switch ev.Type {
	case "message_start":
		r.count(ev.Message.Usage)
	case "content_block_start":
		r.start(ev.Index, ev.Block)
	case "content_block_delta":
		r.delta(ev.Index, ev.Delta)
	case "content_block_stop":
		r.close(r.blocks[ev.Index])
	case "message_delta":
		r.count(ev.Usage)
		r.stop, r.reason = ev.Delta.StopReason, ev.Delta.StopDetails.Explanation
	}
	return nil
}

func (r *reader) start(at int64, b block) {
	// A thought ends when the next block begins, even if the server closes it later, so that the
	// events are in order.
	for _, i := range r.order {
		if open := r.blocks[i]; open.kind == typeThinking || open.kind == typeRedacted {
			r.close(open)
		}
	}
	r.close(r.blocks[at]) // a server that gives every block the same index
	n := &openBlock{kind: b.Type}
	r.blocks[at] = n
	r.order = append(r.order, at)
	switch b.Type {
	case typeText:
		r.Text(llm.EventText, b.Text)
	case typeThinking:
		n.out = protocol.Block{Type: protocol.BlockThinking, Signature: b.Signature}
		if b.Thinking != nil {
			n.thought.WriteString(*b.Thinking)
			r.Text(llm.EventThinking, *b.Thinking)
		}
	case typeRedacted:
		n.out = protocol.Block{Type: protocol.BlockThinking, Redacted: true, Signature: b.Data}
	case typeCall:
		n.index = r.calls
		r.calls++
		n.out = protocol.Block{Type: protocol.BlockToolCall, ID: cmp.Or(b.ID, "toolu_"+protocol.NewID()), Name: b.Name}
		// a server that does not stream arguments
		if len(b.Input) > 2 && b.Input[0] == '{' {
			n.args.Write(b.Input)
		}
		r.Emit(llm.Event{Type: llm.EventCallStart, Index: n.index, Block: n.out})
	}
}

func (r *reader) delta(at int64, d delta) {
	b := r.blocks[at]
	if b == nil {
		return
	}
	switch d.Type {
	case "text_delta":
		r.Text(llm.EventText, d.Text)
	case "thinking_delta":
		b.thought.WriteString(d.Thinking)
		r.Text(llm.EventThinking, d.Thinking)
	case "signature_delta":
		b.out.Signature += d.Signature
	case "input_json_delta":
		if d.PartialJSON != "" && b.kind == typeCall {
			b.args.WriteString(d.PartialJSON)
			r.Emit(llm.Event{Type: llm.EventCallDelta, Index: b.index, Text: d.PartialJSON})
		}
	}
}

// close emits a finished block, once.
func (r *reader) close(b *openBlock) {
	if b == nil || b.closed {
		return
	}
	b.closed = true
	switch b.kind {
	case typeThinking, typeRedacted:
		b.out.Thinking = b.thought.String()
		if b.out.Signature != "" {
			b.out.Opaque = ask.Opaque(origin(r.model))
		}
		r.Emit(llm.Event{Type: llm.EventSignature, Block: b.out})
	case typeCall:
		r.Call(b.index, b.out, b.args.String())
	}
}

// count merges a usage report. Later reports repeat some numbers and omit others, and never
// decrease one.
func (r *reader) count(n usage) {
	u := &r.usage
	u.Input, u.Output = max(u.Input, n.Input), max(u.Output, n.Output)
	u.CacheRead, u.CacheWrite = max(u.CacheRead, n.CacheRead), max(u.CacheWrite, n.CacheWrite)
	u.Reasoning = max(u.Reasoning, n.Details.Thinking)
	u.Total = u.Input + u.Output + u.CacheRead + u.CacheWrite
	r.Emit(llm.Event{Type: llm.EventUsage, Usage: *u})
}

// End closes the blocks that the server left open and emits the stop reason. An answer without a
// stop reason was cut off.
func (r *reader) End(bool) error {
	if r.stop == "" {
		return ask.Broken("the answer ended too early")
	}
	for _, i := range r.order {
		r.close(r.blocks[i])
	}
	ev, err := ask.Ending(r.stop, r.reason, r.calls > 0)
	if err == nil {
		r.Emit(ev)
	}
	return err
}
