package gemini

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// reader assembles one answer and emits its events.
type reader struct {
	*ask.Out

	model   string
	names   names
	thought strings.Builder // not finished
	calls   int
	finish  string
	message string // Google's, about the end
}

func (r *reader) take(chunk *response) {
	if u := chunk.UsageMetadata; u != nil {
		r.Emit(llm.Event{Type: llm.EventUsage, Usage: usage(u)})
	}
	if f := chunk.PromptFeedback; f.BlockReason != "" {
		r.finish, r.message = finishSafety, f.BlockReasonMessage
		if r.message == "" {
			r.message = fmt.Sprintf("Google's safety rules blocked the request (%s).", f.BlockReason)
		}
	}
	if len(chunk.Candidates) == 0 {
		return
	}
	c := chunk.Candidates[0]
	for _, p := range c.Content.Parts {
		r.part(p)
	}
	if c.FinishReason != "" && c.FinishReason != finishUnspecified {
		r.finish, r.message = c.FinishReason, c.FinishMessage
	}
}

func (r *reader) part(p part) {
	if !p.Thought {
		r.closeThought()
	}
	switch {
	case p.Thought:
		if p.Text != "" {
			r.thought.WriteString(p.Text)
			r.Emit(llm.Event{Type: llm.EventThinking, Text: p.Text})
		}
	case p.FunctionCall != nil:
		r.call(p.FunctionCall, p.ThoughtSignature)
	case p.InlineData != nil && strings.HasPrefix(p.InlineData.MIMEType, "image/"):
		r.Emit(llm.Event{Type: llm.EventImage, Block: protocol.Block{
			Type: protocol.BlockImage, MimeType: p.InlineData.MIMEType, Data: base64.StdEncoding.EncodeToString(p.InlineData.Data),
			Opaque: opaque{Model: r.model, Signature: p.ThoughtSignature}.raw(),
		}})
	default:
		if p.Text != "" {
			r.Emit(llm.Event{Type: llm.EventText, Text: p.Text})
		}
		if len(p.ThoughtSignature) > 0 {
			r.Emit(llm.Event{Type: llm.EventSignature, Block: protocol.Block{
				Type: protocol.BlockThinking, Opaque: opaque{Model: r.model, Signature: p.ThoughtSignature, ForText: true}.raw(),
			}})
		}
	}
}

// closeThought emits a complete thought.
func (r *reader) closeThought() {
	if r.thought.Len() == 0 {
		return
	}
	b := protocol.Block{Type: protocol.BlockThinking, Thinking: r.thought.String(), Opaque: opaque{Model: r.model}.raw()}
	r.thought.Reset()
	r.Emit(llm.Event{Type: llm.EventSignature, Block: b})
}

func (r *reader) call(c *functionCall, signature []byte) {
	b := protocol.Block{Type: protocol.BlockToolCall, ID: c.ID, Name: r.names.original(c.Name)}
	o := opaque{Model: r.model, Signature: signature, ID: c.ID != ""}
	if c.ID == "" {
		b.ID = "call_" + protocol.NewID()
	}
	args, bad := "{}", ""
	if len(c.Args) > 0 && string(c.Args) != "null" {
		if args = string(c.Args); c.Args[0] != '{' {
			bad = args
		}
	}
	index := r.calls
	r.calls++
	r.Emit(llm.Event{Type: llm.EventCallStart, Index: index, Block: b})
	r.Emit(llm.Event{Type: llm.EventCallDelta, Index: index, Text: args})
	if b.Opaque = o.raw(); bad == "" {
		b.Arguments = json.RawMessage(args)
	}
	r.Emit(llm.Event{Type: llm.EventCall, Index: index, Block: b, BadArgs: bad})
}

// usage converts Google's counts: input without cached tokens, output with thoughts.
func usage(u *usageMetadata) protocol.Usage {
	out := protocol.Usage{
		Input:     max(0, u.PromptTokenCount+u.ToolUsePromptTokenCount-u.CachedContentTokenCount),
		CacheRead: u.CachedContentTokenCount,
		Output:    u.CandidatesTokenCount + u.ThoughtsTokenCount,
		Reasoning: u.ThoughtsTokenCount,
	}
	out.Total = out.Input + out.Output + out.CacheRead
	return out
}

// end emits the stop reason. An answer without one was cut off.
func (r *reader) end() error {
	r.closeThought()
	ev := llm.Event{Type: llm.EventStop, Stop: llm.StopEnd}
	switch r.finish {
	case "":
		return ask.Broken("the answer ended too early")
	case finishMalformedCall, finishUnexpectedCall:
		return ask.Broken("the model wrote a tool call that Google could not read")
	case finishStop:
		if r.calls > 0 {
			ev.Stop = llm.StopToolUse
		}
	case finishMaxTokens:
		ev.Stop = llm.StopMaxTokens
	default:
		ev.Stop, ev.Text = llm.StopRefusal, r.message
		if ev.Text == "" {
			ev.Text = fmt.Sprintf("Google stopped the answer (%s).", r.finish)
		}
	}
	r.Emit(ev)
	return nil
}
