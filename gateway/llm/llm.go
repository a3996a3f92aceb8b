// Package llm speaks to language models: one streaming interface, a file or sub-package per provider, and what they share
// (retry, catalogue, detection of servers on this machine).
//
// Anthropic goes through its official SDK. Gemini, the OpenAI-compatible family (chat completions and responses) and Ollama
// go through small clients of ours: Gemini's SDK brings some 190 packages for one request, and dozens of half-compatible
// servers differ in ways that no library handles.
package llm

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"fairlead/gateway/protocol"
)

// Model answers requests of one provider's one model. It is safe for use by many goroutines.
type Model interface {
	// Stream sends req and yields events until the answer is complete. A yielded error ends the stream; it is an *protocol.Error
	// where the cause is known (ErrModelAuth, ErrModelRateLimit, ErrContextOverflow, ErrModel) or ctx's error. The last event of a
	// complete answer is EventStop. Breaking out of the loop closes the connection at once.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// Request is one model step.
type Request struct {
	System    string // the assembled system prompt; stable over a session, so that providers can cache it
	Messages  []protocol.Message
	Tools     []Tool // in a fixed order, for the same reason
	MaxTokens int    // of output; 0 is the model's own limit
	// Thinking is one of protocol.ThinkingLevels; "" lets the model decide.
	Thinking string
	// CacheKey identifies the session to providers that route by it.
	CacheKey string
}

// Tool is what a model is told of a tool. Names fit ^[a-zA-Z0-9_-]{1,64}$.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// EventType tells events apart.
type EventType int

const (
	EventText      EventType = iota + 1 // Text: next piece of the answer
	EventThinking                       // Text: next piece of the thinking
	EventSignature                      // Block: a finished thinking block with the provider's signature
	EventCallStart                      // Index, Block.ID, Block.Name: a tool call begins
	EventCallDelta                      // Index, Text: next piece of its arguments
	EventCall                           // Index, Block: the complete call; Arguments is a JSON object or, when the model wrote bad JSON, raw text in BadArgs
	EventImage                          // Block: an image the model made (Data, MimeType)
	EventUsage                          // Usage so far; the last one counts
	EventRetry                          // Retry: the request failed before anything was shown and is tried again
	EventStop                           // Stop; Text is the provider's sentence about a refusal, or empty
)

// Event is one step of an answer.
type Event struct {
	Type    EventType
	Text    string
	Index   int
	Block   protocol.Block
	BadArgs string
	Usage   protocol.Usage
	Stop    string // one of the Stop constants
	Retry   Retry
}

// Reasons to stop.
const (
	StopEnd       = "stop"
	StopToolUse   = "toolUse"
	StopMaxTokens = "length"
	StopRefusal   = "refusal"
	StopError     = "error"
	StopAborted   = "aborted"
)

// Retry says why and when a request is tried again.
type Retry struct {
	Attempt int // of this retry, from 1
	Of      int
	After   time.Duration
	Reason  string // a phrase for the person: "the provider is overloaded (529)"
}
