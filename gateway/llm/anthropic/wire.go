package anthropic

import "encoding/json"

// The parts of Anthropic's messages API that Fairlead uses
// (https://docs.anthropic.com/en/api/messages).

const apiVersion = "2023-06-01"

type request struct {
	Model        string            `json:"model"`
	MaxTokens    int64             `json:"max_tokens"`
	System       []block           `json:"system,omitempty"`
	Messages     []message         `json:"messages"`
	Tools        []tool            `json:"tools,omitempty"`
	Thinking     *thinking         `json:"thinking,omitempty"`
	OutputConfig map[string]string `json:"output_config,omitempty"`
	Stream       bool              `json:"stream"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

// block is a part of a message or of an answer; Type determines which fields are set.
type block struct {
	Type         string            `json:"type"`
	Text         string            `json:"text,omitempty"`
	Thinking     *string           `json:"thinking,omitempty"` // required in a thought, even if it is empty
	Signature    string            `json:"signature,omitempty"`
	Data         string            `json:"data,omitempty"` // of a redacted thought
	ID           string            `json:"id,omitempty"`
	Name         string            `json:"name,omitempty"`
	Input        json.RawMessage   `json:"input,omitempty"`
	Source       *source           `json:"source,omitempty"` // of an image
	ToolUseID    string            `json:"tool_use_id,omitempty"`
	IsError      bool              `json:"is_error,omitempty"`
	Content      []block           `json:"content,omitempty"` // of a result
	CacheControl map[string]string `json:"cache_control,omitempty"`
}

const (
	typeText     = "text"
	typeImage    = "image"
	typeThinking = "thinking"
	typeRedacted = "redacted_thinking"
	typeCall     = "tool_use"
	typeResult   = "tool_result"
)

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type tool struct {
	Name         string            `json:"name"`
	Description  string            `json:"description,omitempty"`
	InputSchema  json.RawMessage   `json:"input_schema"`
	CacheControl map[string]string `json:"cache_control,omitempty"`
}

type thinking struct {
	BudgetTokens int64  `json:"budget_tokens,omitempty"`
	Display      string `json:"display,omitempty"`
	Type         string `json:"type"`
}

// streamEvent is any event of a streamed answer; Type determines which fields are set.
type streamEvent struct {
	Type    string
	Index   int64
	Message struct{ Usage usage }
	Block   block `json:"content_block"`
	Delta   delta
	Usage   usage
	Error   json.RawMessage
}

type delta struct {
	Type, Text, Thinking, Signature string

	PartialJSON string                       `json:"partial_json"`
	StopReason  string                       `json:"stop_reason"`
	StopDetails struct{ Explanation string } `json:"stop_details"`
}

type usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Details    struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

type modelList struct {
	Data    []listedModel
	HasMore bool   `json:"has_more"`
	LastID  string `json:"last_id"`
}

type listedModel struct {
	ID           string
	Name         string `json:"display_name"`
	MaxInput     int64  `json:"max_input_tokens"`
	MaxTokens    int64  `json:"max_tokens"`
	Lifecycle    string
	Capabilities *struct {
		Image    capability `json:"image_input"`
		Thinking capability
	}
}

type capability struct{ Supported bool }
