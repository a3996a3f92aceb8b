package gemini

import (
	"cmp"
	"encoding/base64"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

type reader struct {
	*ask.Out

	model   string
	names   names
	thought strings.Builder // not finished
	calls   int
	finish  string
	message string // Google's, about the end
}

// Event implements [ask.Reader].
func (r *reader) Event(ev ask.Event) error {
	var chunk response
	if err := ask.Decode(ev.Data, &chunk); err != nil {
		return err
	}
	if ask.IsError(chunk.Error) {
		return ask.StreamError(ev.Data)
	}
	if u := chunk.UsageMetadata; u != nil {
		r.Emit(llm.Event{Type: llm.EventUsage, Usage: usage(u)})
	}
	if f := chunk.PromptFeedback; f.BlockReason != "" {
		r.finish, r.message = f.BlockReason, f.BlockReasonMessage
	}
	if len(chunk.Candidates) == 0 {
		return nil
	}
	c := chunk.Candidates[0]
	for _, p := range c.Content.Parts {
		r.part(p)
	}
	if c.FinishReason != "" && c.FinishReason != "FINISH_REASON_UNSPECIFIED" {
		r.finish, r.message = c.FinishReason, c.FinishMessage
	}
	return nil
}

func (r *reader) part(p part) {
	if !p.Thought {
		r.closeThought()
	}
	switch {
	case p.Thought:
		r.thought.WriteString(p.Text)
		r.Text(llm.EventThinking, p.Text)
	case p.FunctionCall != nil:
		r.call(p.FunctionCall, p.ThoughtSignature)
	case p.InlineData != nil && strings.HasPrefix(p.InlineData.MIMEType, "image/"):
		r.Emit(llm.Event{Type: llm.EventImage, Block: protocol.Block{
			Type: protocol.BlockImage, MimeType: p.InlineData.MIMEType, Data: base64.StdEncoding.EncodeToString(p.InlineData.Data),
			Opaque: ask.Opaque(opaque{Origin: origin(r.model), Signature: p.ThoughtSignature}),
		}})
	default:
		r.Text(llm.EventText, p.Text)
		if len(p.ThoughtSignature) > 0 {
			r.Emit(llm.Event{Type: llm.EventSignature, Block: protocol.Block{
				Type: protocol.BlockThinking, Opaque: ask.Opaque(opaque{Origin: origin(r.model), Signature: p.ThoughtSignature, ForText: true}),
			}})
		}
	}
}

func (r *reader) closeThought() {
	if r.thought.Len() == 0 {
		return
	}
	b := protocol.Block{Type: protocol.BlockThinking, Thinking: r.thought.String(), Opaque: ask.Opaque(opaque{Origin: origin(r.model)})}
	r.thought.Reset()
	r.Emit(llm.Event{Type: llm.EventSignature, Block: b})
}

func (r *reader) call(c *functionCall, signature []byte) {
	name := cmp.Or(r.names[c.Name], c.Name)
	o := ask.Opaque(opaque{Origin: origin(r.model), Signature: signature, ID: c.ID != ""})
	b := protocol.Block{Type: protocol.BlockToolCall, ID: cmp.Or(c.ID, "call_"+protocol.NewID()), Name: name, Opaque: o}
	r.WholeCall(r.calls, b, string(c.Args))
	r.calls++
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

// End emits the stop reason. An answer without one was cut off.
func (r *reader) End(bool) error {
	r.closeThought()
	switch r.finish {
	case "":
		return ask.Broken("the answer ended too early")
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL":
		r.message = "the model wrote a tool call that Google could not read"
	}
	ev, err := ask.Ending(r.finish, r.message, r.calls > 0)
	if err == nil {
		r.Emit(ev)
	}
	return err
}
