package anthropic

import (
	"cmp"
	"encoding/json"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// fallbackOutput is the limit of an answer in tokens if the model's own is unknown; the API
// requires one.
const fallbackOutput = 8192

// leastBudget is the smallest thinking budget that the API accepts.
const leastBudget = 1024

func (m *model) request(req llm.Request, p plan) request {
	r := request{Model: m.Model, Messages: m.messages(req.Messages), Stream: true}
	r.MaxTokens = cmp.Or(int64(req.MaxTokens), m.Info.MaxOutput, fallbackOutput)
	for _, limit := range []int64{m.Info.MaxOutput, m.maxOutput.Load()} {
		if limit > 0 {
			r.MaxTokens = min(r.MaxTokens, limit)
		}
	}
	if req.System != "" {
		r.System = []block{text(req.System)}
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: ask.Schema(t.Schema)})
	}
	r.markCache()
	switch p.kind {
	case planAdaptive:
		r.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		if p.effort != "" {
			r.OutputConfig = &outputConfig{p.effort}
		}
	case planBudget:
		if b := min(p.budget, r.MaxTokens/2); b >= leastBudget {
			r.Thinking = &thinking{Type: "enabled", BudgetTokens: b}
		}
	case planOff:
		r.Thinking = &thinking{Type: "disabled"}
	}
	return r
}

// markCache marks the ends of the prefixes that the API should cache: the tools, the system prompt,
// the conversation so far.
func (r *request) markCache() {
	cache := &cacheControl{"ephemeral"}
	if n := len(r.Tools); n > 0 {
		r.Tools[n-1].CacheControl = cache
	}
	if n := len(r.System); n > 0 {
		r.System[n-1].CacheControl = cache
	}
	if n := len(r.Messages); n > 0 {
		content := r.Messages[n-1].Content
		for i := len(content) - 1; i >= 0; i-- {
			if b := &content[i]; b.Type != typeThinking && b.Type != typeRedacted { // thoughts cannot be marked
				b.CacheControl = cache
				return
			}
		}
	}
}

func text(s string) block { return block{Type: typeText, Text: s} }

// messages builds the conversation. All results of a step are one user message, as the API
// requires, and the person's next message is appended to it.
func (m *model) messages(list []protocol.Message) []message {
	var out []message
	add := func(role string, content []block) {
		if len(content) == 0 {
			return
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, content...)
			return
		}
		if len(out) == 0 && role == roleAssistant { // the first message must be the user's
			out = append(out, message{roleUser, []block{text("(earlier messages are left out)")}})
		}
		out = append(out, message{role, content})
	}
	for _, msg := range list {
		switch msg.Role {
		case protocol.RoleUser:
			add(roleUser, userBlocks(msg.Content))
		case protocol.RoleAssistant:
			add(roleAssistant, m.modelBlocks(msg))
		case protocol.RoleToolResult:
			add(roleUser, []block{result(msg)})
		}
	}
	return out
}

func userBlocks(c protocol.Content) []block {
	var out []block
	for _, b := range c {
		switch {
		case b.Type == protocol.BlockText && strings.TrimSpace(b.Text) != "":
			// the API refuses empty text
			out = append(out, text(b.Text))
		case b.Type == protocol.BlockImage && b.Data != "":
			out = append(out, block{Type: typeImage, Source: &source{"base64", ask.ImageType(b), b.Data}})
		case b.Type == protocol.BlockImage:
			out = append(out, text(ask.LostImage))
		}
	}
	return out
}

// modelBlocks builds the model's own message. Thoughts are sent back only to the model that signed
// them, before everything else of their step, in their original order.
func (m *model) modelBlocks(msg protocol.Message) []block {
	var out []block
	for _, b := range msg.Content {
		switch b.Type {
		case protocol.BlockThinking:
			switch {
			case b.Signature == "" || !ask.ReadOpaque(b, origin(m.Model), new(ask.Origin)): // another model's
			case b.Redacted:
				out = append(out, block{Type: typeRedacted, Data: b.Signature})
			default:
				out = append(out, block{Type: typeThinking, Thinking: &b.Thinking, Signature: b.Signature})
			}
		case protocol.BlockText:
			if strings.TrimSpace(b.Text) != "" {
				out = append(out, text(b.Text))
			}
		case protocol.BlockImage:
			out = append(out, text("(an image)"))
		case protocol.BlockToolCall:
			input := b.Arguments
			if len(input) == 0 {
				input = json.RawMessage("{}")
			}
			out = append(out, block{Type: typeCall, ID: llm.PlainID(b.ID), Input: input, Name: b.Name})
		}
	}
	return out
}

func result(msg protocol.Message) block {
	r := block{Type: typeResult, ToolUseID: llm.PlainID(msg.ToolCallID), IsError: msg.IsError, Content: userBlocks(msg.Content)}
	if len(r.Content) == 0 {
		r.Content = []block{text("(no output)")}
	}
	return r
}

func origin(model string) ask.Origin { return ask.Origin{Wire: "anthropic", Model: model} }
