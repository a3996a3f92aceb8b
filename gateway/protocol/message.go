package protocol

import (
	"encoding/json"
	"slices"
	"strings"
)

// Role is the author of a message.
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

// Block is one piece of a message's content. Type determines which fields are set.
type Block struct {
	Type string `json:"type"` // text, thinking, image or toolCall

	Text string `json:"text,omitempty"` // text
	// Aside marks a text that a tool's result has for the model only, such as a note that the person
	// changed the call (extension).
	Aside bool `json:"aside,omitempty"`

	Thinking  string `json:"thinking,omitempty"`          // thinking
	Signature string `json:"thinkingSignature,omitempty"` // thinking: the provider's signature, returned to it unchanged
	Redacted  bool   `json:"redacted,omitempty"`          // thinking: the provider hid the text; Signature has its opaque data

	Data     string `json:"data,omitempty"`     // image: base64, only on the wire
	MimeType string `json:"mimeType,omitempty"` // image
	MediaKey string `json:"r2Key,omitempty"`    // image: key in the gateway's storage, for media.get
	Filename string `json:"filename,omitempty"` // image (extension)

	ID        string          `json:"id,omitempty"`        // toolCall: the model's ID of the call
	Name      string          `json:"name,omitempty"`      // toolCall: full tool name
	Arguments json.RawMessage `json:"arguments,omitempty"` // toolCall: a JSON object

	// Opaque is data that the provider needs back with this block (extension).
	Opaque json.RawMessage `json:"opaque,omitempty"`
}

// Text makes a text block.
func Text(s string) Block { return Block{Type: BlockText, Text: s} }

// Content is a list of blocks. On the wire, a user message with a single text block has a plain
// string as content, because GSV's client shows user messages only in that form.
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

// Text joins the text blocks with newlines.
func (c Content) Text() string {
	var parts []string
	for _, b := range c {
		if b.Type == BlockText && b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// ResultText is Text without the notes for the model: what a tool returned.
func (c Content) ResultText() string {
	return slices.DeleteFunc(slices.Clone(c), func(b Block) bool { return b.Aside }).Text()
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
	RunID RunID     `json:"runId,omitempty"` // the run to which it belongs (extension)

	Role      Role    `json:"role"` // user, assistant or toolResult
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
	Call       *CallInfo `json:"call,omitempty"` // the call, for display (extension)

	// Compaction marks the notice of a compaction (extension).
	Compaction *Compaction `json:"compaction,omitempty"`
	// Omitted marks the notice of an omission (extension).
	Omitted *Omission `json:"omitted,omitempty"`

	// Origin tells who wrote a user message if it was not the person at the keyboard, and marks the
	// person's own "!command" (extension).
	Origin string `json:"origin,omitempty"`
}

// Values of Message.Origin.
const (
	OriginPerson = ""
	OriginDirect = "direct" // a "!command" and its result: displayed, and sent to the model as context
	OriginNotice = "notice" // from the gateway, such as "stopped" or "retrying"; never sent to a model
	OriginEvent  = "event"  // an event that the agent reads and answers, see ExecCompletion
	// OriginSchedule is a scheduled job or the heartbeat. The first line of its message names it, with
	// the time.
	OriginSchedule = "schedule"
)

// IsRequest reports whether a message asks the agent to do something: of the person, or of a
// schedule.
func (m Message) IsRequest() bool {
	return m.Role == RoleUser && (m.Origin == OriginPerson || m.Origin == OriginSchedule)
}

// RequestText returns the text of a request, without the line that names the schedule.
func (m Message) RequestText() string {
	text := m.Content.Text()
	if _, rest, ok := strings.Cut(text, "\n"); ok && m.Origin == OriginSchedule {
		return rest
	}
	return text
}

// Omission is what requests to a model leave out of the messages before its notice, because the
// model's provider refused it. The notice names the model (extension).
type Omission struct {
	MaxBytes int      `json:"maxBytes,omitempty"` // longer texts are sent without their middle; 0 means no limit
	Pictures bool     `json:"pictures,omitempty"`
	Thoughts bool     `json:"thoughts,omitempty"`
	Calls    bool     `json:"calls,omitempty"` // calls and results are sent as text
	Tools    []string `json:"tools,omitempty"` // names of tools that are not offered
	// Messages are the IDs of messages whose contents are not sent at all.
	Messages []MessageID `json:"messages,omitempty"`
}

// StopBlind is the stop reason of a notice that a part of the chat is not sent to the model, such
// as an image (extension).
const StopBlind = "blind"

// OutsideConversation reports whether a message is not part of the conversation between model and
// user: a direct command of the person, or a notice of the gateway. It gets no answer.
func (m Message) OutsideConversation() bool {
	return m.Origin == OriginDirect || m.Origin == OriginNotice
}

// MarshalJSON writes a user message with a single text block with a string as content, and always
// writes isError in a tool result, because strict peers expect both.
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

// Usage counts tokens. Input excludes cached tokens; Total is the sum of the other four counts.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Total      int64 `json:"totalTokens"`
	// Reasoning is the part of Output that was spent on thinking (extension).
	Reasoning int64 `json:"reasoning,omitempty"`
	// Cost in US dollars; missing when unknown.
	Cost *float64 `json:"costUsd,omitempty"`
	// Estimated reports that the counts are estimates, because the provider did not return them
	// (extension).
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
