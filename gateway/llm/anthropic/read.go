package anthropic

import (
	"cmp"
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
}

// block is an unfinished block.
type block struct {
	kind    string
	out     protocol.Block  // thinking, redacted_thinking, tool_use
	thought strings.Builder // which comes in thousands of pieces
	args    []byte
	index   int // of a call
	closed  bool
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
		r.Text(llm.EventText, b.Text)
	case "thinking":
		n.thought.WriteString(b.Thinking)
		n.out = protocol.Block{Type: protocol.BlockThinking, Thinking: b.Thinking, Signature: b.Signature}
		r.Text(llm.EventThinking, b.Thinking)
	case "redacted_thinking":
		n.out = protocol.Block{Type: protocol.BlockThinking, Redacted: true, Signature: b.Data}
	case "tool_use":
		n.index = r.calls
		r.calls++
		n.out = protocol.Block{Type: protocol.BlockToolCall, ID: cmp.Or(b.ID, "toolu_"+protocol.NewID()), Name: b.Name}
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
		r.Text(llm.EventText, d.Text)
	case "thinking_delta":
		b.thought.WriteString(d.Thinking)
		b.out.Thinking = b.thought.String()
		r.Text(llm.EventThinking, d.Thinking)
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
			b.out.Opaque = ask.Opaque(origin(r.model))
		}
		r.Emit(llm.Event{Type: llm.EventSignature, Block: b.out})
	case "tool_use":
		r.Call(b.index, b.out, string(b.args))
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
		ev.Text = cmp.Or(ev.Text, "The provider's safety rules stopped the answer.")
	default:
		if r.calls > 0 {
			ev.Stop = llm.StopToolUse
		}
	}
	r.Emit(ev)
	return nil
}
