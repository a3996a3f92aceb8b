package anthropic

import (
	"cmp"
	"encoding/json"
	"strconv"
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
			r.OutputConfig = map[string]string{"effort": p.effort}
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
	cache := map[string]string{"type": "ephemeral"}
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
			input := json.RawMessage(cmp.Or(string(b.Arguments), "{}"))
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

type plan struct {
	kind   string // "": not mentioned; else adaptive, budget or off
	effort string
	budget int64
}

const (
	planAdaptive = "adaptive"
	planBudget   = "budget"
	planOff      = "off"
	anyEffort    = "effort" // refused with any value
)

var budgets = map[string]int64{"minimal": 1024, "low": 4096, "medium": 10_000, "high": 24_000, "xhigh": 48_000}

var efforts = map[string]string{"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "xhigh"}

// plan chooses the plan for a level (protocol.ThinkingLevels). An empty level leaves the decision
// to the model: an adaptive one may think, one that needs a budget answers without thinking. Models
// from 4.6 on decide themselves how much to think and accept an effort; earlier ones need a budget
// of tokens; other servers may support neither. A refused way is not used again.
func (m *model) plan(level string) plan {
	var p plan
	switch {
	case level == "none":
		// If thinking is not mentioned, only an adaptive model would think.
		if m.adaptive && !m.refused.Has(planOff) {
			p.kind = planOff
		}
		return p
	case level == "" && !(m.Info.Thinking && m.adaptive):
		return p
	case m.adaptive && !m.refused.Has(planAdaptive):
		p.kind = planAdaptive
	case level != "" && !m.refused.Has(planBudget):
		p.kind, p.budget = planBudget, budgets[level]
	case level != "" && !m.refused.Has(planAdaptive):
		p.kind = planAdaptive
	}
	if p.kind == planAdaptive && !m.refused.Has(anyEffort) {
		p.effort = efforts[level]
		if m.refused.Has(p.effort) {
			p.effort = "high"
		}
	}
	return p
}

// learn records that a server refused a request because of its plan, and reports whether another
// plan is worth a try.
func (m *model) learn(p plan, reason string) bool {
	low := strings.ToLower(reason)
	switch {
	case p.effort != "" && (strings.Contains(low, "effort") || strings.Contains(low, "output_config")):
		if p.effort == "xhigh" && m.refused.Add(p.effort) {
			return true
		}
		return m.refused.Add(anyEffort)
	case p.kind != "" && (strings.Contains(low, "thinking") || strings.Contains(low, "adaptive") || strings.Contains(low, "budget")):
		return m.refused.Add(p.kind)
	}
	return false
}

// adaptive reports whether a model, by its name ("claude-opus-4-6", "claude-sonnet-5"), is version
// 4.6 or later.
func adaptive(id string) bool {
	rest, ok := strings.CutPrefix(id[strings.LastIndexByte(id, '/')+1:], "claude-")
	if !ok {
		return false
	}
	var version []int
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == '-' || r == '.' }) {
		if n, err := strconv.Atoi(part); err == nil && n < 100 { // a larger number is a date
			version = append(version, n)
		}
	}
	if len(version) == 0 {
		return strings.HasPrefix(rest, "mythos")
	}
	return version[0] >= 5 || version[0] == 4 && len(version) > 1 && version[1] >= 6
}
