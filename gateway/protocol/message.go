package protocol

import (
	"encoding/json"
	"strings"
)

// Role says who a message is from.
type Role string

const (
	RoleUser       Role = "user"
	RoleAssistant  Role = "assistant"
	RoleToolResult Role = "toolResult"
)

// Block types.
const (
	BlockText     = "text"
	BlockThinking = "thinking"
	BlockImage    = "image"
	BlockToolCall = "toolCall"
)

// Block is one piece of a message's content. Type says which fields are set.
type Block struct {
	Type string `json:"type"`

	Text string `json:"text,omitempty"` // text

	Thinking  string `json:"thinking,omitempty"`          // thinking
	Signature string `json:"thinkingSignature,omitempty"` // thinking: the provider's proof, sent back unchanged
	Redacted  bool   `json:"redacted,omitempty"`          // thinking: the provider hid the text; Signature holds its blob

	Data     string `json:"data,omitempty"`     // image: base64, in transit only
	MimeType string `json:"mimeType,omitempty"` // image
	MediaKey string `json:"r2Key,omitempty"`    // image: where the gateway stored it (media.get reads it)
	Filename string `json:"filename,omitempty"` // image (extension)

	ID        string          `json:"id,omitempty"`        // toolCall: the model's id of the call
	Name      string          `json:"name,omitempty"`      // toolCall: full tool name
	Arguments json.RawMessage `json:"arguments,omitempty"` // toolCall: a JSON object

	// Opaque is what a provider wants back with this block and nobody else understands (extension).
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// Text makes a text block.
func Text(s string) Block { return Block{Type: BlockText, Text: s} }

// Content is a message's blocks. On the wire a content that is one text block of a user message may be a plain string:
// the original's client shows user messages only in that form.
type Content []Block

// UnmarshalJSON accepts a string or a list of blocks.
func (c *Content) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err == nil {
		*c = Content{Text(s)}
		return nil
	}
	var blocks []Block
	if err := json.Unmarshal(data, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

// Text joins the text blocks with line breaks.
func (c Content) Text() string {
	var parts []string
	for _, b := range c {
		if b.Type == BlockText && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// Calls returns the tool-call blocks in order.
func (c Content) Calls() []Block {
	var calls []Block
	for _, b := range c {
		if b.Type == BlockToolCall {
			calls = append(calls, b)
		}
	}
	return calls
}

// Message is one entry of a conversation.
type Message struct {
	ID    MessageID `json:"id,omitempty"`    // extension
	Seq   int64     `json:"seq,omitempty"`   // position in the session, from 1 (extension)
	RunID RunID     `json:"runId,omitempty"` // the run it belongs to (extension)

	Role      Role    `json:"role"`
	Content   Content `json:"content"`
	Timestamp int64   `json:"timestamp"`

	// assistant
	API          string `json:"api,omitempty"`
	Provider     string `json:"provider,omitempty"`
	Model        string `json:"model,omitempty"`
	Usage        *Usage `json:"usage,omitempty"`
	StopReason   string `json:"stopReason,omitempty"`
	ErrorMessage string `json:"errorMessage,omitempty"`

	// toolResult
	ToolCallID string    `json:"toolCallId,omitempty"`
	ToolName   ToolName  `json:"toolName,omitempty"`
	IsError    bool      `json:"isError,omitempty"`
	Call       *CallInfo `json:"call,omitempty"` // how the call went, for the tool card (extension)

	// Compaction marks the notice of a chat that was shortened (extension).
	Compaction *Compaction `json:"compaction,omitempty"`

	// Origin says who really wrote a user message when it was not the person at the keyboard, and marks the person's own
	// "!command" (extension).
	Origin string `json:"origin,omitempty"`
}

// Values of Message.Origin.
const (
	OriginPerson = ""
	OriginDirect = "direct" // a "!command" and its result: shown, and given to the model as context
	OriginNotice = "notice" // written by the gateway, such as "stopped" or "retrying"; never sent to a model
	OriginEvent  = "event"  // something happened that the agent is told of and answers, see ExecCompletion
)

// StopBlind is the stop reason of a notice that a picture was not shown to a model that takes none (extension).
const StopBlind = "blind"

// Beside reports whether a message stands beside the conversation of a model and its user: it neither asks for anything nor answers.
func (m Message) Beside() bool { return m.Origin == OriginDirect || m.Origin == OriginNotice }

// MarshalJSON writes a user message of one text block with a plain string as content, and a tool
// result always with isError: strict peers expect it.
func (m Message) MarshalJSON() ([]byte, error) {
	type plain Message
	if m.Role == RoleUser && len(m.Content) == 1 && m.Content[0].Type == BlockText {
		return Marshal(struct {
			plain
			Content string `json:"content"`
		}{plain(m), m.Content[0].Text})
	}
	if m.Content == nil {
		m.Content = Content{}
	}
	if m.Role == RoleToolResult {
		return Marshal(struct {
			plain
			IsError bool `json:"isError"`
		}{plain(m), m.IsError})
	}
	return Marshal(plain(m))
}

// Usage counts tokens. Input excludes cached tokens; Total is the sum of the four.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Total      int64 `json:"totalTokens"`
	// Reasoning is the part of Output that was thinking (extension).
	Reasoning int64 `json:"reasoning,omitempty"`
	// Cost is in US dollars; nil when unknown.
	Cost *float64 `json:"costUsd,omitempty"`
	// Estimated marks counts that the provider did not report (extension).
	Estimated bool `json:"estimated,omitempty"`
}

// Add adds o to u.
func (u *Usage) Add(o Usage) {
	u.Input += o.Input
	u.Output += o.Output
	u.CacheRead += o.CacheRead
	u.CacheWrite += o.CacheWrite
	u.Total += o.Total
	u.Reasoning += o.Reasoning
	u.Estimated = u.Estimated || o.Estimated
	if o.Cost != nil {
		sum := *o.Cost
		if u.Cost != nil {
			sum += *u.Cost
		}
		u.Cost = &sum
	}
}
