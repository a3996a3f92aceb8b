package gemini

import (
	"cmp"
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

type opaque struct {
	ask.Origin
	Signature []byte `json:"signature,omitempty"`
	// ForText means that the signature belongs to the text before the block, which has no place for
	// one.
	ForText bool `json:"forText,omitempty"`
	// ID means that the call's ID is Gemini's own.
	ID bool `json:"id,omitempty"`
}

func origin(model string) ask.Origin { return ask.Origin{Wire: "gemini", Model: model} }

// foreignSignature is the signature that Google documents for calls of other models: newer models
// refuse a call without one.
var foreignSignature, _ = base64.URLEncoding.DecodeString("skip_thought_signature_validator")

// names are the original names of tools by those for Gemini, which requires a letter or _ first.
type names map[string]string

func validName(name string) string {
	if name != "" && (name[0] == '-' || name[0] >= '0' && name[0] <= '9') {
		return "_" + name
	}
	return name
}

func (m *model) request(req llm.Request, thinking *thinkingConfig) request {
	r := request{Contents: m.contents(req.Messages)}
	if req.System != "" {
		r.SystemInstruction = &content{Role: roleUser, Parts: []part{{Text: req.System}}}
	}
	c := generationConfig{ThinkingConfig: thinking, MaxOutputTokens: min(req.MaxTokens, math.MaxInt32)}
	if strings.Contains(m.Model, "image") {
		c.ResponseModalities = []string{"TEXT", "IMAGE"}
	}
	if c.ThinkingConfig != nil || c.MaxOutputTokens > 0 || c.ResponseModalities != nil {
		r.GenerationConfig = &c
	}
	var list []functionDeclaration
	for _, t := range req.Tools {
		list = append(list, functionDeclaration{Name: validName(t.Name), Description: t.Description, ParametersJSONSchema: t.Schema})
	}
	if len(list) > 0 {
		r.Tools = []map[string][]functionDeclaration{{"functionDeclarations": list}}
	}
	return r
}

// contents builds the conversation. All results of a step are one message, because Gemini requires
// as many results as calls.
func (m *model) contents(list []protocol.Message) []content {
	var out []content
	add := func(role string, parts []part) {
		if len(parts) == 0 {
			return
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == role {
			out[last].Parts = append(out[last].Parts, parts...)
			return
		}
		if len(out) == 0 && role == roleModel { // the first message must be the user's
			out = append(out, content{Role: roleUser, Parts: []part{{Text: "(earlier messages are left out)"}}})
		}
		out = append(out, content{Role: role, Parts: parts})
	}
	calls := map[string]*functionCall{}
	var images []part // of results, after the last of them
	for _, msg := range list {
		if msg.Role != protocol.RoleToolResult {
			add(roleUser, images)
			images = nil
		}
		switch msg.Role {
		case protocol.RoleUser:
			add(roleUser, userParts(msg.Content))
		case protocol.RoleAssistant:
			add(roleModel, m.modelParts(msg, calls))
		case protocol.RoleToolResult:
			r := result(msg)
			if c := calls[msg.ToolCallID]; c != nil {
				r.ID, r.Name = c.ID, c.Name
			}
			add(roleUser, []part{{FunctionResponse: r}})
			for _, p := range userParts(msg.Content) {
				if p.InlineData != nil {
					images = append(images, p)
				}
			}
		}
	}
	add(roleUser, images)
	return out
}

func userParts(c protocol.Content) []part {
	var out []part
	for _, b := range c {
		switch {
		case b.Type == protocol.BlockText && b.Text != "":
			out = append(out, part{Text: b.Text})
		case b.Type == protocol.BlockImage:
			p := imagePart(b)
			if p.InlineData == nil {
				p.Text = ask.LostImage
			}
			out = append(out, p)
		}
	}
	return out
}

// imagePart returns an empty part if the image is no longer stored.
func imagePart(b protocol.Block) part {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil || len(data) == 0 {
		return part{}
	}
	return part{InlineData: &blob{Data: data, MIMEType: ask.ImageType(b)}}
}

// modelParts builds the model's own message and records its calls. The text of thoughts is not sent
// back, their signatures are.
func (m *model) modelParts(msg protocol.Message, calls map[string]*functionCall) []part {
	var out []part
	first := true
	for _, b := range msg.Content {
		var o opaque
		ours := ask.ReadOpaque(b, origin(m.Model), &o)
		switch b.Type {
		case protocol.BlockThinking:
			if last := len(out) - 1; o.ForText && last >= 0 && out[last].Text != "" {
				out[last].ThoughtSignature = o.Signature
			}
		case protocol.BlockText:
			if b.Text != "" {
				out = append(out, part{Text: b.Text})
			}
		case protocol.BlockImage:
			p := imagePart(b)
			if p.InlineData == nil || !ours {
				p = part{Text: "(an image)"}
			} else {
				p.ThoughtSignature = o.Signature
			}
			out = append(out, p)
		case protocol.BlockToolCall:
			c := &functionCall{Name: validName(b.Name)}
			if len(b.Arguments) > 0 && b.Arguments[0] == '{' && string(b.Arguments) != "{}" {
				c.Args = b.Arguments
			}
			if o.ID {
				c.ID = b.ID
			}
			p := part{FunctionCall: c, ThoughtSignature: o.Signature}
			if first && !ours && m.version >= 3 {
				p.ThoughtSignature = foreignSignature
			}
			first = false
			calls[b.ID] = c
			out = append(out, p)
		}
	}
	return out
}

func result(msg protocol.Message) *functionResponse {
	key := "output"
	if msg.IsError {
		key = "error"
	}
	return &functionResponse{Name: validName(string(msg.ToolName)), Response: map[string]string{key: cmp.Or(msg.Content.Text(), "(no output)")}}
}

// versionOf returns the version in the name of a model that thinks: 2.5 for "gemini-2.5-flash", 3
// for "gemini-3-pro-preview", and 0 for other names. Version 2.5 gets a number of tokens for its
// thoughts, later ones a level.
func versionOf(name string) float64 {
	rest, ok := strings.CutPrefix(name, "gemini-")
	number, _, _ := strings.Cut(rest, "-")
	version, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || version < 2.5 || version < 3 && strings.Contains(name, "image") {
		return 0
	}
	return version
}

var budgets = map[string]int{"none": 0, "minimal": 1024, "low": 4096, "medium": 8192, "high": 16_384, "xhigh": 24_576}

var levels = map[string]string{
	"none": "MINIMAL", "minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH", "xhigh": "HIGH",
}

// anySetting stands for every setting of thinking in [model.refused].
const anySetting = "thinking"

// setting identifies c: its level, its budget, or that it has neither.
func (c *thinkingConfig) setting() string {
	if c.ThinkingBudget != nil {
		return strconv.Itoa(*c.ThinkingBudget)
	}
	return cmp.Or(c.ThinkingLevel, anySetting)
}

// thinking chooses the setting for a level (protocol.ThinkingLevels). An empty or refused level
// leaves the amount to the model. nil does not mention thinking at all.
func (m *model) thinking(level string) *thinkingConfig {
	if m.refused.Has(anySetting) || m.version == 0 && (!m.Info.Thinking || level == "none") {
		return nil
	}
	c := thinkingConfig{IncludeThoughts: level != "none"}
	exact := c
	switch {
	case level == "":
	case m.version >= 3:
		exact.ThinkingLevel = levels[level]
	case m.version > 0:
		exact.ThinkingBudget = new(budgets[level])
	}
	if m.refused.Has(exact.setting()) {
		return &c
	}
	return &exact
}

// learn records that a server refused a request because of its setting, and reports whether an
// attempt without it is worthwhile.
func (m *model) learn(c *thinkingConfig, reason string) bool {
	low := strings.ToLower(reason)
	if strings.Contains(low, "signature") || !strings.Contains(low, "thinking") && !strings.Contains(low, "thought") && !strings.Contains(low, "budget") {
		return false
	}
	m.refused.Add(c.setting())
	return true
}
