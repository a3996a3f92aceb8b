package anthropic

import (
	"cmp"
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// fallbackOutput is the limit of an answer in tokens if the model's own is unknown; the API
// requires one.
const fallbackOutput = 8192

// leastBudget is the smallest thinking budget that the API accepts.
const leastBudget = 1024

func (m *model) params(req llm.Request, thinking plan) sdk.MessageNewParams {
	p := sdk.MessageNewParams{Model: m.Model, MaxTokens: int64(req.MaxTokens), Messages: m.messages(req.Messages), Tools: tools(req.Tools)}
	p.MaxTokens = cmp.Or(p.MaxTokens, m.Info.MaxOutput, fallbackOutput)
	for _, most := range []int64{m.Info.MaxOutput, m.most.Load()} {
		if most > 0 {
			p.MaxTokens = min(p.MaxTokens, most)
		}
	}
	if req.System != "" {
		p.System = []sdk.TextBlockParam{{Text: req.System}}
	}
	m.mark(&p)
	switch thinking.kind {
	case planAdaptive:
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
		p.OutputConfig.Effort = thinking.effort
	case planBudget:
		if b := min(thinking.budget, p.MaxTokens/2); b >= leastBudget {
			p.Thinking = sdk.ThinkingConfigParamOfEnabled(b)
		}
	case planOff:
		p.Thinking.OfDisabled = new(sdk.NewThinkingConfigDisabledParam())
	}
	return p
}

// mark marks the ends of the prefixes that the API should cache: the tools, the system prompt, the
// conversation so far.
func (m *model) mark(p *sdk.MessageNewParams) {
	cache := sdk.NewCacheControlEphemeralParam()
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = cache
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = cache
	}
	if n := len(p.Messages); n > 0 {
		content := p.Messages[n-1].Content
		for i := len(content) - 1; i >= 0; i-- {
			if c := content[i].GetCacheControl(); c != nil { // thoughts cannot be marked
				*c = cache
				return
			}
		}
	}
}

func tools(list []llm.Tool) []sdk.ToolUnionParam {
	var out []sdk.ToolUnionParam
	for _, t := range list {
		p := &sdk.ToolParam{Name: t.Name, InputSchema: schema(t.Schema)}
		if t.Description != "" {
			p.Description = param.NewOpt(t.Description)
		}
		out = append(out, sdk.ToolUnionParam{OfTool: p})
	}
	return out
}

// schema converts a tool's whole schema: parts without a field in the SDK are passed unchanged.
func schema(raw json.RawMessage) sdk.ToolInputSchemaParam {
	var s sdk.ToolInputSchemaParam
	if json.Unmarshal(raw, &s.ExtraFields) != nil {
		s.ExtraFields = nil
	}
	s.Properties = cmp.Or[any](s.ExtraFields["properties"], map[string]any{})
	delete(s.ExtraFields, "type")
	delete(s.ExtraFields, "properties")
	return s
}

// messages builds the conversation. All results of a step are one user message, as the API
// requires, and the person's next message is appended to it.
func (m *model) messages(list []protocol.Message) []sdk.MessageParam {
	var out []sdk.MessageParam
	add := func(role sdk.MessageParamRole, content []sdk.ContentBlockParamUnion) {
		if len(content) == 0 {
			return
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Content = append(out[n-1].Content, content...)
			return
		}
		// the first message must be the user's
		if len(out) == 0 && role == sdk.MessageParamRoleAssistant {
			out = append(out, sdk.NewUserMessage(sdk.NewTextBlock("(earlier messages are left out)")))
		}
		out = append(out, sdk.MessageParam{Role: role, Content: content})
	}
	for _, msg := range list {
		switch msg.Role {
		case protocol.RoleUser:
			add(sdk.MessageParamRoleUser, person(msg.Content))
		case protocol.RoleAssistant:
			add(sdk.MessageParamRoleAssistant, m.own(msg))
		case protocol.RoleToolResult:
			add(sdk.MessageParamRoleUser, []sdk.ContentBlockParamUnion{{OfToolResult: result(msg)}})
		}
	}
	return out
}

func person(c protocol.Content) []sdk.ContentBlockParamUnion {
	var out []sdk.ContentBlockParamUnion
	for _, b := range c {
		switch {
		case b.Type == protocol.BlockText && strings.TrimSpace(b.Text) != "":
			// the API refuses empty text
			out = append(out, sdk.NewTextBlock(b.Text))
		case b.Type == protocol.BlockImage && b.Data != "":
			out = append(out, sdk.NewImageBlockBase64(ask.ImageType(b), b.Data))
		case b.Type == protocol.BlockImage:
			out = append(out, sdk.NewTextBlock(ask.LostImage))
		}
	}
	return out
}

// own builds the model's own message. Thoughts are sent back only to the model that signed them,
// before everything else of their step, in their original order.
func (m *model) own(msg protocol.Message) []sdk.ContentBlockParamUnion {
	var out []sdk.ContentBlockParamUnion
	for _, b := range msg.Content {
		switch b.Type {
		case protocol.BlockThinking:
			switch {
			case b.Signature == "" || !ask.ReadOpaque(b, origin(m.Model), new(ask.Origin)): // another model's
			case b.Redacted:
				out = append(out, sdk.NewRedactedThinkingBlock(b.Signature))
			default:
				out = append(out, sdk.NewThinkingBlock(b.Signature, b.Thinking))
			}
		case protocol.BlockText:
			if strings.TrimSpace(b.Text) != "" {
				out = append(out, sdk.NewTextBlock(b.Text))
			}
		case protocol.BlockImage:
			out = append(out, sdk.NewTextBlock("(an image)"))
		case protocol.BlockToolCall:
			input := b.Arguments
			if len(input) == 0 {
				input = json.RawMessage("{}")
			}
			out = append(out, sdk.NewToolUseBlock(llm.PlainID(b.ID), input, b.Name))
		}
	}
	return out
}

func result(msg protocol.Message) *sdk.ToolResultBlockParam {
	r := &sdk.ToolResultBlockParam{ToolUseID: llm.PlainID(msg.ToolCallID)}
	if msg.IsError {
		r.IsError = param.NewOpt(true)
	}
	for _, b := range person(msg.Content) {
		r.Content = append(r.Content, sdk.ToolResultBlockParamContentUnion{OfText: b.OfText, OfImage: b.OfImage})
	}
	if len(r.Content) == 0 {
		r.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: "(no output)"}}}
	}
	return r
}

func origin(model string) ask.Origin { return ask.Origin{Wire: "anthropic", Model: model} }
