package openai

import (
	"cmp"
	"encoding/json"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// responsesWire is POST /responses. Nothing is stored at the provider: the whole conversation is
// sent each time, with the reasoning items encrypted.
var responsesWire = wire{"/responses", responsesBody, func(m *model, s stream) ask.Reader { return &responsesReader{m: m, stream: s} }}

type responsesRequest struct {
	Model        string         `json:"model"`
	Instructions string         `json:"instructions,omitempty"`
	Input        []any          `json:"input"`
	Tools        []responseTool `json:"tools,omitempty"`
	Stream       bool           `json:"stream"`
	Store        bool           `json:"store"`
	Include      []string       `json:"include,omitempty"`
	Reasoning    *effort        `json:"reasoning,omitempty"`
	MaxTokens    int            `json:"max_output_tokens,omitempty"`
	CacheKey     string         `json:"prompt_cache_key,omitempty"`
}

type responseTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type inputMessage struct {
	Type    string      `json:"type"`
	Role    string      `json:"role"`
	Status  string      `json:"status,omitempty"` // llama.cpp accepts past answers only with it
	Content []inputPart `json:"content"`
}

type inputPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
}

type inputCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type inputResult struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

func responsesBody(m *model, req llm.Request) any {
	r := responsesRequest{
		Model: m.Model, Instructions: req.System, Input: m.input(req), Stream: true, MaxTokens: req.MaxTokens,
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, responseTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: ask.Schema(t.Schema)})
	}
	if !m.refused.Has(paramInclude) {
		r.Include = []string{"reasoning.encrypted_content"}
	}
	if !m.refused.Has(paramReasoning) && (req.Thinking != "" || m.Info.Thinking) {
		r.Reasoning = &effort{Effort: req.Thinking}
		if req.Thinking != "none" {
			r.Reasoning.Summary = "auto"
		}
	}
	if !m.refused.Has(paramCacheKey) {
		r.CacheKey = req.CacheKey
	}
	return r
}

func (m *model) input(req llm.Request) []any {
	items := []any{}
	list, _ := withSeparateImages(req)
	for _, msg := range list {
		switch msg.Role {
		case protocol.RoleUser:
			items = append(items, inputMessage{Type: "message", Role: "user", Content: inputParts(msg.Content)})
		case protocol.RoleAssistant:
			items = append(items, m.pastAnswer(msg.Content)...)
		case protocol.RoleToolResult:
			items = append(items, inputResult{Type: "function_call_output", CallID: msg.ToolCallID, Output: msg.Content.Text()})
		}
	}
	return items
}

func inputParts(c protocol.Content) []inputPart {
	var out []inputPart
	for _, b := range c {
		switch {
		case b.Type == protocol.BlockText:
			out = append(out, inputPart{Type: "input_text", Text: b.Text})
		case b.Type == protocol.BlockImage && b.Data == "":
			out = append(out, inputPart{Type: "input_text", Text: ask.LostImage})
		case b.Type == protocol.BlockImage:
			out = append(out, inputPart{Type: "input_image", ImageURL: imageData(b)})
		}
	}
	return out
}

// pastAnswer preserves the order of the model's items: a reasoning item must precede the item that
// it led to.
func (m *model) pastAnswer(c protocol.Content) []any {
	var items []any
	for _, b := range c {
		switch b.Type {
		case protocol.BlockThinking:
			if o := opaqueOf(b, wireResponses, m.Model); o.Item != nil {
				items = append(items, o.Item)
			}
		case protocol.BlockText:
			if b.Text != "" {
				items = append(items, inputMessage{Type: "message", Role: "assistant", Status: "completed", Content: []inputPart{{Type: "output_text", Text: b.Text}}})
			}
		case protocol.BlockToolCall:
			items = append(items, inputCall{Type: "function_call", CallID: b.ID, Name: b.Name, Arguments: cmp.Or(string(b.Arguments), "{}")})
		}
	}
	// A trailing reasoning item, as in an answer that was cut off, is refused.
	for len(items) > 0 {
		if _, bare := items[len(items)-1].(json.RawMessage); !bare {
			break
		}
		items = items[:len(items)-1]
	}
	return items
}
