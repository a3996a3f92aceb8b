package gemini

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"google.golang.org/genai"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// opaque is what this package keeps in [protocol.Block.Opaque].
type opaque struct {
	Wire      string `json:"wire"`
	Model     string `json:"model"`
	Signature []byte `json:"signature,omitempty"`
	// ForText says that the signature is of the text before the block, which has no place for one.
	ForText bool `json:"forText,omitempty"`
	// ID says that a call's id is Gemini's own.
	ID bool `json:"id,omitempty"`
}

const wire = "gemini"

func (o opaque) raw() json.RawMessage {
	o.Wire = wire
	data, err := protocol.Marshal(o)
	if err != nil {
		return nil
	}
	return data
}

// opaqueOf returns what b carries for this model, or nothing.
func (m *model) opaqueOf(b protocol.Block) opaque {
	var o opaque
	if len(b.Opaque) == 0 || json.Unmarshal(b.Opaque, &o) != nil || o.Wire != wire || o.Model != m.Model {
		return opaque{}
	}
	return o
}

// foreign is the signature that Google documents for calls that another model made: newer models refuse a call without one.
var foreign = func() []byte {
	raw, err := base64.URLEncoding.DecodeString("skip_thought_signature_validator")
	if err != nil {
		panic(err)
	}
	return raw
}()

// names fits tool names to Gemini, which wants a letter or _ first.
type names struct{ back map[string]string }

func newNames(tools []llm.Tool) names {
	n := names{map[string]string{}}
	for _, t := range tools {
		n.back[n.fit(t.Name)] = t.Name
	}
	return n
}

func (n names) fit(name string) string {
	if name != "" && (name[0] == '-' || name[0] >= '0' && name[0] <= '9') {
		return "_" + name
	}
	return name
}

func (n names) original(name string) string {
	if o, ok := n.back[name]; ok {
		return o
	}
	return name
}

func (m *model) config(req llm.Request, thinking *genai.ThinkingConfig, n names) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{ThinkingConfig: thinking, AutomaticContinuation: genai.Ptr(false), MaxOutputTokens: int32(min(req.MaxTokens, 1<<30))}
	if req.System != "" {
		c.SystemInstruction = genai.NewContentFromText(req.System, genai.RoleUser)
	}
	if strings.Contains(m.Model, "image") {
		c.ResponseModalities = []string{"TEXT", "IMAGE"}
	}
	var list []*genai.FunctionDeclaration
	for _, t := range req.Tools {
		d := &genai.FunctionDeclaration{Name: n.fit(t.Name), Description: t.Description}
		var schema map[string]any
		if json.Unmarshal(t.Schema, &schema) == nil && schema != nil {
			d.ParametersJsonSchema = schema
		}
		list = append(list, d)
	}
	if len(list) > 0 {
		c.Tools = []*genai.Tool{{FunctionDeclarations: list}}
	}
	return c
}

// contents builds the conversation. All results of a step are one message, as Gemini wants as many results as calls.
func (m *model) contents(list []protocol.Message, n names) []*genai.Content {
	var out []*genai.Content
	add := func(role string, parts []*genai.Part) {
		if len(parts) == 0 {
			return
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == role {
			out[last].Parts = append(out[last].Parts, parts...)
			return
		}
		if len(out) == 0 && role == genai.RoleModel { // the first word is the person's
			out = append(out, genai.NewContentFromText("(earlier messages are left out)", genai.RoleUser))
		}
		out = append(out, &genai.Content{Role: role, Parts: parts})
	}
	calls := map[string]*genai.FunctionCall{}
	var images []*genai.Part // of results, after the last of them
	for _, msg := range list {
		if msg.Origin == protocol.OriginNotice {
			continue
		}
		if msg.Role != protocol.RoleToolResult {
			add(genai.RoleUser, images)
			images = nil
		}
		switch msg.Role {
		case protocol.RoleUser:
			add(genai.RoleUser, person(msg.Content))
		case protocol.RoleAssistant:
			add(genai.RoleModel, m.own(msg, n, calls))
		case protocol.RoleToolResult:
			r := result(msg, n)
			if c := calls[msg.ToolCallID]; c != nil {
				r.ID, r.Name = c.ID, c.Name
			}
			add(genai.RoleUser, []*genai.Part{{FunctionResponse: r}})
			for _, p := range person(msg.Content) {
				if p.InlineData != nil {
					images = append(images, p)
				}
			}
		}
	}
	add(genai.RoleUser, images)
	return out
}

func person(c protocol.Content) []*genai.Part {
	var out []*genai.Part
	for _, b := range c {
		switch {
		case b.Type == protocol.BlockText && b.Text != "":
			out = append(out, &genai.Part{Text: b.Text})
		case b.Type == protocol.BlockImage:
			if p := picture(b); p != nil {
				out = append(out, p)
			} else {
				out = append(out, &genai.Part{Text: "(an image that is no longer stored)"})
			}
		}
	}
	return out
}

// picture returns nil for an image that is not there.
func picture(b protocol.Block) *genai.Part {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil || len(data) == 0 {
		return nil
	}
	kind := b.MimeType
	if kind == "" {
		kind = "image/png"
	}
	return &genai.Part{InlineData: &genai.Blob{Data: data, MIMEType: kind}}
}

// own builds the model's own message and notes its calls. The text of thoughts does not go back, their signatures do.
func (m *model) own(msg protocol.Message, n names, calls map[string]*genai.FunctionCall) []*genai.Part {
	var out []*genai.Part
	first := true
	for _, b := range msg.Content {
		o := m.opaqueOf(b)
		switch b.Type {
		case protocol.BlockThinking:
			if last := len(out) - 1; o.ForText && last >= 0 && out[last].Text != "" {
				out[last].ThoughtSignature = o.Signature
			}
		case protocol.BlockText:
			if b.Text != "" {
				out = append(out, &genai.Part{Text: b.Text})
			}
		case protocol.BlockImage:
			p := picture(b)
			if p == nil || len(o.Wire) == 0 {
				p = &genai.Part{Text: "(an image)"}
			} else {
				p.ThoughtSignature = o.Signature
			}
			out = append(out, p)
		case protocol.BlockToolCall:
			c := &genai.FunctionCall{Name: n.fit(b.Name)}
			if json.Unmarshal(b.Arguments, &c.Args) != nil {
				c.Args = map[string]any{}
			}
			if o.ID {
				c.ID = b.ID
			}
			p := &genai.Part{FunctionCall: c, ThoughtSignature: o.Signature}
			if first && o.Wire == "" && m.think.style == levelStyle {
				p.ThoughtSignature = foreign
			}
			first = false
			calls[b.ID] = c
			out = append(out, p)
		}
	}
	return out
}

func result(msg protocol.Message, n names) *genai.FunctionResponse {
	key := "output"
	if msg.IsError {
		key = "error"
	}
	text := msg.Content.Text()
	if text == "" {
		text = "(no output)"
	}
	return &genai.FunctionResponse{Name: n.fit(string(msg.ToolName)), Response: map[string]any{key: text}}
}
