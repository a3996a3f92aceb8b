package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// reader assembles one answer and emits its events.
type reader struct {
	*ask.Out

	model  string
	blocks map[int64]*block
	order  []int64
	calls  int
	usage  protocol.Usage
	stop   string
	reason string // the provider's sentence about a refusal
	said   bool   // text or a call, not only thoughts
}

// block is an unfinished block.
type block struct {
	kind   string
	out    protocol.Block  // thinking, redacted_thinking, tool_use
	said   strings.Builder // of a thought, which comes in thousands of pieces
	args   []byte
	index  int // of a call
	closed bool
}

func (r *reader) take(ev sdk.MessageStreamEventUnion) {
	switch ev.Type {
	case "message_start":
		u := ev.Message.Usage
		r.count(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokensDetails.ThinkingTokens)
	case "content_block_start":
		r.start(ev.Index, ev.ContentBlock)
	case "content_block_delta":
		r.delta(ev.Index, ev.Delta)
	case "content_block_stop":
		r.close(r.blocks[ev.Index])
	case "message_delta":
		u := ev.Usage
		r.count(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokensDetails.ThinkingTokens)
		r.stop = string(ev.Delta.StopReason)
		r.reason = ev.Delta.StopDetails.Explanation
	}
}

func (r *reader) start(at int64, b sdk.ContentBlockStartEventContentBlockUnion) {
	// A thought ends when the next block begins, even if the server closes it later, so that the
	// events are in order.
	for _, i := range r.order {
		if open := r.blocks[i]; open.kind == "thinking" || open.kind == "redacted_thinking" {
			r.close(open)
		}
	}
	n := &block{kind: b.Type}
	r.blocks[at] = n
	r.order = append(r.order, at)
	switch b.Type {
	case "text":
		if b.Text != "" {
			r.said = true
			r.Emit(llm.Event{Type: llm.EventText, Text: b.Text})
		}
	case "thinking":
		n.said.WriteString(b.Thinking)
		n.out = protocol.Block{Type: protocol.BlockThinking, Thinking: b.Thinking, Signature: b.Signature}
		if b.Thinking != "" {
			r.Emit(llm.Event{Type: llm.EventThinking, Text: b.Thinking})
		}
	case "redacted_thinking":
		n.out = protocol.Block{Type: protocol.BlockThinking, Redacted: true, Signature: b.Data}
	case "tool_use":
		n.index = r.calls
		r.calls++
		r.said = true
		n.out = protocol.Block{Type: protocol.BlockToolCall, ID: b.ID, Name: b.Name}
		if n.out.ID == "" {
			n.out.ID = "toolu_" + protocol.NewID()
		}
		// a server that does not stream arguments
		if raw, err := protocol.Marshal(b.Input); err == nil && len(raw) > 2 && raw[0] == '{' {
			n.args = raw
		}
		r.Emit(llm.Event{Type: llm.EventCallStart, Index: n.index, Block: n.out})
	}
}

func (r *reader) delta(at int64, d sdk.MessageStreamEventUnionDelta) {
	b := r.blocks[at]
	if b == nil {
		return
	}
	switch d.Type {
	case "text_delta":
		if d.Text != "" {
			r.said = true
			r.Emit(llm.Event{Type: llm.EventText, Text: d.Text})
		}
	case "thinking_delta":
		if d.Thinking != "" {
			b.said.WriteString(d.Thinking)
			b.out.Thinking = b.said.String()
			r.Emit(llm.Event{Type: llm.EventThinking, Text: d.Thinking})
		}
	case "signature_delta":
		b.out.Signature += d.Signature
	case "input_json_delta":
		if d.PartialJSON != "" && b.kind == "tool_use" {
			b.args = append(b.args, d.PartialJSON...)
			r.Emit(llm.Event{Type: llm.EventCallDelta, Index: b.index, Text: d.PartialJSON})
		}
	}
}

// close emits a finished block, once.
func (r *reader) close(b *block) {
	if b == nil || b.closed {
		return
	}
	b.closed = true
	switch b.kind {
	case "thinking", "redacted_thinking":
		if b.out.Signature != "" {
			b.out.Opaque = originOf(r.model)
		}
		r.Emit(llm.Event{Type: llm.EventSignature, Block: b.out})
	case "tool_use":
		ev := llm.Event{Type: llm.EventCall, Index: b.index, Block: b.out}
		var object map[string]json.RawMessage
		switch {
		case len(b.args) == 0:
			ev.Block.Arguments = json.RawMessage("{}")
		case json.Unmarshal(b.args, &object) == nil && object != nil:
			ev.Block.Arguments = slices.Clone(b.args)
		default:
			ev.BadArgs = string(b.args)
		}
		r.Emit(ev)
	}
}

// count merges a usage report. Later reports repeat some numbers and omit others, and never
// decrease one.
func (r *reader) count(in, out, read, write, reasoning int64) {
	u := &r.usage
	u.Input, u.Output = max(u.Input, in), max(u.Output, out)
	u.CacheRead, u.CacheWrite = max(u.CacheRead, read), max(u.CacheWrite, write)
	u.Reasoning = max(u.Reasoning, reasoning)
	u.Total = u.Input + u.Output + u.CacheRead + u.CacheWrite
	r.Emit(llm.Event{Type: llm.EventUsage, Usage: *u})
}

// end closes the blocks that the server left open and emits the stop reason. An answer without a
// stop reason was cut off.
func (r *reader) end() error {
	if r.stop == "" {
		return ask.Broken("the answer ended too early")
	}
	for _, i := range r.order {
		r.close(r.blocks[i])
	}
	ev := llm.Event{Type: llm.EventStop, Stop: llm.StopEnd}
	switch sdk.StopReason(r.stop) {
	case sdk.StopReasonToolUse:
		ev.Stop = llm.StopToolUse
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		ev.Stop = llm.StopMaxTokens
	case sdk.StopReasonRefusal:
		ev.Stop, ev.Text = llm.StopRefusal, r.reason
		if ev.Text == "" {
			ev.Text = "The provider's safety rules stopped the answer."
		}
	default:
		if r.calls > 0 {
			ev.Stop = llm.StopToolUse
		}
	}
	r.Emit(ev)
	return nil
}
