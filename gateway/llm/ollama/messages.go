package ollama

import (
	"cmp"
	"encoding/json"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// request is the body of POST /api/chat.
type request struct {
	Model     string             `json:"model"`
	Messages  []message          `json:"messages"`
	Tools     []ask.FunctionTool `json:"tools,omitempty"`
	Stream    bool               `json:"stream"`
	Think     any                `json:"think,omitempty"` // a bool, or a level for models with levels
	KeepAlive string             `json:"keep_alive,omitempty"`
	Options   map[string]any     `json:"options,omitempty"`
	// Without it, a prompt over the window silently loses its beginning.
	Truncate *bool `json:"truncate,omitempty"`
}

type message struct {
	Role     string   `json:"role"`
	Content  string   `json:"content"`
	Thinking string   `json:"thinking,omitempty"`
	Images   []string `json:"images,omitempty"` // base64
	Calls    []call   `json:"tool_calls,omitempty"`
	ToolName string   `json:"tool_name,omitempty"`
	CallID   string   `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id,omitempty"`
	Function struct {
		Index     int             `json:"index,omitempty"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

const (
	// defaultContext is used if the window is unknown: enough for the tools and some work.
	defaultContext = 16384
	// keepAlive is the time for which the model stays in memory while a person reads and approves.
	keepAlive = "30m"
)

func (m *model) request(req llm.Request) request {
	r := request{Model: m.Model, Stream: true, KeepAlive: keepAlive, Truncate: new(false), Options: map[string]any{"num_ctx": cmp.Or(m.Info.ContextWindow, defaultContext)}}
	if req.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: req.System})
	}
	turn := req.TurnStart()
	for i, msg := range req.Messages {
		if out, ok := convert(msg, i > turn); ok {
			r.Messages = append(r.Messages, out)
		}
	}
	if !m.refused.Has("tools") {
		r.Tools = ask.FunctionTools(req.Tools)
	}
	if req.MaxTokens > 0 {
		r.Options["num_predict"] = req.MaxTokens
	}
	if !m.refused.Has("thinking") {
		r.Think = m.think(req.Thinking)
	}
	return r
}

// think converts a level. Only gpt-oss supports levels, and its thinking cannot be turned off.
func (m *model) think(level string) any {
	levels := strings.HasPrefix(m.Model, "gpt-oss")
	switch {
	case level == "":
		return nil
	case !levels:
		return level != "none"
	case level == "none" || level == "minimal":
		return "low"
	case level == "xhigh":
		return "high"
	}
	return level
}

// convert builds one message; ok is false for an empty answer. Thoughts are sent back only within
// the current turn, where models that think between calls need them.
func convert(msg protocol.Message, inTurn bool) (out message, ok bool) {
	out.Content = msg.Content.Text()
	for _, b := range msg.Content {
		switch b.Type {
		case protocol.BlockImage:
			if b.Data == "" {
				out.Content = strings.TrimSpace(out.Content + "\n" + ask.LostImage)
			} else if msg.Role != protocol.RoleAssistant {
				out.Images = append(out.Images, b.Data)
			}
		case protocol.BlockThinking:
			if inTurn {
				out.Thinking += b.Thinking
			}
		case protocol.BlockToolCall:
			c := call{ID: b.ID}
			c.Function.Index, c.Function.Name, c.Function.Arguments = len(out.Calls), b.Name, b.Arguments
			if len(b.Arguments) == 0 {
				c.Function.Arguments = json.RawMessage("{}")
			}
			out.Calls = append(out.Calls, c)
		}
	}
	switch msg.Role {
	case protocol.RoleUser:
		out.Role = "user"
	case protocol.RoleAssistant:
		out.Role = "assistant"
		return out, out.Content != "" || len(out.Calls) > 0
	case protocol.RoleToolResult:
		out.Role, out.ToolName, out.CallID = "tool", string(msg.ToolName), msg.ToolCallID
		if out.Content == "" && len(out.Images) == 0 {
			out.Content = "(no output)"
		}
	default:
		return out, false
	}
	return out, true
}
