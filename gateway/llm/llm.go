// Package llm connects to language models: it defines one streaming interface that a sub-package
// per provider implements, and shares code between them (retries, prices, detection of servers on
// this machine).
//
// Every provider has a small client of our own: Gemini's SDK brings some 190 packages for one
// request, and dozens of partly compatible servers differ in ways that no library handles.
package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"time"

	"fairlead/gateway/protocol"
)

// Model is one model of one provider. It is safe for concurrent use.
type Model interface {
	// Stream sends req and yields events until the answer is complete. A yielded error ends the
	// stream; it is a *protocol.Error if the cause is known (ErrModelAuth, ErrModelRateLimit,
	// ErrContextOverflow, ErrModel), or ctx's error. The last event of a complete answer is
	// EventStop. Breaking out of the loop closes the connection at once.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// Request is one model step.
type Request struct {
	// the complete system prompt; stable over a session, so that providers can cache it
	System    string
	Messages  []protocol.Message
	Tools     []Tool // in a fixed order, for the same reason
	MaxTokens int    // of output; 0 means the model's own limit
	// Thinking is one of protocol.ThinkingLevels; "" leaves the decision to the model.
	Thinking string
	// CacheKey identifies the session to providers that route by it.
	CacheKey string
}

// TurnStart returns the index of the message that began the current turn, or -1.
func (r Request) TurnStart() int {
	for i, m := range slices.Backward(r.Messages) {
		if m.Role == protocol.RoleUser {
			return i
		}
	}
	return -1
}

// Tool describes a tool to a model. Names match ^[a-zA-Z0-9_-]{1,64}$.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// EventType is the type of an event.
type EventType int

const (
	EventText      EventType = iota + 1 // Text: next piece of the answer
	EventThinking                       // Text: next piece of the thinking
	EventSignature                      // Block: a finished thinking block with the provider's signature
	EventCallStart                      // Index, Block.ID, Block.Name: the start of a tool call
	EventCallDelta                      // Index, Text: next piece of its arguments
	// Index, Block: the complete call; Arguments is a JSON object, an empty one if the model wrote
	// something else, which is then in BadArgs
	EventCall
	EventImage // Block: an image that the model made (Data, MimeType)
	EventUsage // Usage so far; the last one counts
	// Retry: the request failed before anything was shown and is sent again
	EventRetry
	// Stop; Text is the provider's sentence about an answer that is not complete, or empty
	EventStop
)

// Event is one event of an answer.
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

const (
	StopEnd       = "stop"
	StopToolUse   = "toolUse"
	StopMaxTokens = "length"
	StopRefusal   = "refusal"
	// StopIncomplete means that the provider ended the answer for another reason.
	StopIncomplete = "incomplete"
	StopError      = "error"
	StopAborted    = "aborted"
)

// Retry describes why and when a request is sent again.
type Retry struct {
	Attempt int // of this retry, from 1
	Of      int
	After   time.Duration
	Reason  string // a phrase for the person: "the provider is overloaded (529)"
}

// Options hold the address and the known properties of a model. Every provider's package uses them.
type Options struct {
	BaseURL string // empty means the provider's own
	Key     string
	Model   string
	Wire    string // "chat" or "responses" for OpenAI-compatible servers; empty: the address decides
	Info    protocol.ModelInfo
	// nil means http.DefaultClient; its Timeout must allow for a long answer
	HTTP *http.Client
}

// EstimateTokens estimates the tokens of messages: a quarter of their bytes, and a fixed number for
// an image. It is for messages that no provider has counted yet.
func EstimateTokens(messages []protocol.Message) int64 {
	var n int64
	for _, m := range messages {
		for _, b := range m.Content {
			n += int64(len(b.Text)+len(b.Thinking)+len(b.Arguments))/4 + 4
			if b.Type == protocol.BlockImage {
				n += 1500
			}
		}
	}
	return n
}

// Complete sets the total of u, and its cost from a model's prices if they are known, unless the
// provider reported them.
func Complete(info protocol.ModelInfo, u *protocol.Usage) {
	u.Total = cmp.Or(u.Total, u.Input+u.Output+u.CacheRead+u.CacheWrite)
	if u.Cost != nil || info.PriceIn == nil || info.PriceOut == nil {
		return
	}
	read, write := *cmp.Or(info.PriceRead, info.PriceIn), *cmp.Or(info.PriceWrite, info.PriceIn)
	cost := (float64(u.Input)**info.PriceIn + float64(u.Output)**info.PriceOut + float64(u.CacheRead)*read + float64(u.CacheWrite)*write) / 1e6
	u.Cost = &cost
}

// Pause formats a duration for people: 0.5 s, 12 s, 3 min, 5 h. A long one is rounded up, because a
// request that comes too early is refused again.
func Pause(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case d < 100*time.Second:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", int((d + time.Minute - 1).Minutes()))
	}
	return fmt.Sprintf("%d h", int((d + time.Hour - 1).Hours()))
}
