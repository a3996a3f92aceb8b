package openai

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

type message struct {
	Role             string          `json:"role"`
	Content          any             `json:"content"` // text, []part, or nil beside calls
	ToolCalls        []toolCall      `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	Reasoning        string          `json:"reasoning,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
}

type part struct {
	Type     string            `json:"type"`
	Text     string            `json:"text,omitempty"`
	ImageURL map[string]string `json:"image_url,omitempty"`
	Cache    map[string]string `json:"cache_control,omitempty"`
}

type toolCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function function        `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (m *model) messages(req llm.Request) []message {
	var out []message
	if req.System != "" {
		out = append(out, message{Role: "system", Content: m.withCacheMark(req.System)})
	}
	list, turn := withSeparateImages(req)
	for i, msg := range list {
		switch msg.Role {
		case protocol.RoleUser:
			content := m.userContent(msg.Content)
			if s, ok := content.(string); ok && i == turn {
				content = m.withCacheMark(s)
			}
			out = append(out, message{Role: "user", Content: content})
		case protocol.RoleAssistant:
			if a, ok := m.assistant(msg, i > turn); ok {
				out = append(out, a)
			}
		case protocol.RoleToolResult:
			out = append(out, message{Role: "tool", ToolCallID: m.callID(msg.ToolCallID), Content: msg.Content.Text()})
		}
	}
	return out
}

// withSeparateImages returns a copy of the conversation in which the images of a step's results
// follow in a message of the user, because on most servers a result can contain only text. turn is
// the index of the message that began the current turn.
func withSeparateImages(req llm.Request) (list []protocol.Message, turn int) {
	var images protocol.Content
	flush := func() {
		if len(images) > 0 {
			list = append(list, protocol.Message{Role: protocol.RoleUser, Content: images})
			images = nil
		}
	}
	begin := req.TurnStart()
	turn = begin
	for i, msg := range req.Messages {
		if msg.Role != protocol.RoleToolResult {
			flush()
		} else {
			pictures := slices.DeleteFunc(slices.Clone(msg.Content), func(b protocol.Block) bool { return b.Type != protocol.BlockImage })
			text := cmp.Or(msg.Content.Text(), "(no output)")
			if len(pictures) > 0 {
				text = cmp.Or(msg.Content.Text(), "(see the images that follow)")
				images = append(images, protocol.Text("Images of the result of "+string(msg.ToolName)+":"))
				images = append(images, pictures...)
			}
			msg.Content = protocol.Content{protocol.Text(text)}
		}
		if i == begin {
			turn = len(list)
		}
		list = append(list, msg)
	}
	flush()
	return list, turn
}

// withCacheMark marks the end of a prefix that Anthropic should cache behind OpenRouter. No other
// server gets such a mark: proxies refuse it, and elsewhere caching needs none.
func (m *model) withCacheMark(s string) any {
	if m.host == hostOpenRouter && strings.HasPrefix(m.Model, "anthropic/") && s != "" {
		return []part{{Type: "text", Text: s, Cache: map[string]string{"type": "ephemeral"}}}
	}
	return s
}

func (m *model) userContent(c protocol.Content) any {
	var list []part
	var texts []string
	for _, b := range c {
		switch {
		case b.Type == protocol.BlockText:
			list = append(list, part{Type: "text", Text: b.Text})
			texts = append(texts, b.Text)
		case b.Type == protocol.BlockImage && b.Data == "":
			list = append(list, part{Type: "text", Text: ask.LostImage})
		case b.Type == protocol.BlockImage:
			list = append(list, part{Type: "image_url", ImageURL: map[string]string{"url": imageData(b)}})
		}
	}
	if len(texts) == len(list) {
		return strings.Join(texts, "\n\n")
	}
	return list
}

func imageData(b protocol.Block) string { return "data:" + ask.ImageType(b) + ";base64," + b.Data }

// assistant builds the model's own message; ok is false for one without content that a server
// accepts. Thoughts are sent back only within the current turn and only under their original name:
// some servers require them there, others refuse them elsewhere.
func (m *model) assistant(msg protocol.Message, inTurn bool) (out message, ok bool) {
	out.Role = "assistant"
	var texts []string
	var back reasoning // a signature may be in a later block than its thought
	for _, b := range msg.Content {
		switch b.Type {
		case protocol.BlockText:
			if b.Text != "" {
				texts = append(texts, b.Text)
			}
		case protocol.BlockImage:
			texts = append(texts, "(an image)")
		case protocol.BlockThinking:
			o := opaqueOf(b, wireChat, m.Model)
			switch {
			case o.Details != nil:
				back.addDetails(o.Details)
			case !inTurn:
			case o.Field == "reasoning_content":
				out.ReasoningContent += b.Thinking
			case o.Field == "reasoning":
				out.Reasoning += b.Thinking
			}
		case protocol.BlockToolCall:
			out.ToolCalls = append(out.ToolCalls, toolCall{
				ID: m.callID(b.ID), Type: "function", Function: function{b.Name, cmp.Or(string(b.Arguments), "{}")}, Extra: opaqueOf(b, wireChat, m.Model).Extra,
			})
		}
	}
	out.ReasoningDetails = back.rawDetails()
	if len(texts) > 0 {
		out.Content = strings.Join(texts, "\n\n")
	}
	return out, out.Content != nil || len(out.ToolCalls) > 0
}

var mistralID = regexp.MustCompile(`^[0-9A-Za-z]{9}$`)

// callID converts a call's ID for servers with restrictions: Mistral requires nine letters or
// digits.
func (m *model) callID(id string) string {
	if m.host != hostMistral || mistralID.MatchString(id) {
		return id
	}
	h := fnv.New64a()
	h.Write([]byte(id))
	return (strconv.FormatUint(h.Sum64(), 36) + "000000000")[:9]
}
