package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// answer collects the output of a model, in order.
type answer struct {
	run      *Run
	blocks   []protocol.Block
	usage    protocol.Usage
	hasUsage bool
	buffer   strings.Builder // text of the last block
	bytes    int             // of the whole output so far
	pictures int             // bytes of pictures
	stop     string
	reason   string // the provider's explanation of an answer that is not complete
	hasText  bool
}

func (a *answer) add(e llm.Event) {
	s := a.run.Progress
	switch e.Type {
	case llm.EventText:
		if !a.hasText && e.Text != "" {
			a.hasText = true
			s.State(protocol.RunStreaming, "")
		}
		b := a.openBlock(protocol.BlockText)
		piece := a.truncate(e.Text)
		b.Text = a.appendText(b.Text, piece)
		s.Delta(false, piece)
	case llm.EventThinking:
		b := a.openBlock(protocol.BlockThinking)
		piece := a.truncate(e.Text)
		b.Thinking = a.appendText(b.Thinking, piece)
		s.Delta(true, piece)
	case llm.EventCallDelta:
		a.bytes += len(e.Text)
	case llm.EventSignature:
		a.addSignature(e.Block)
	case llm.EventCall:
		a.addCall(e)
	case llm.EventImage:
		e.Block.Type = protocol.BlockImage
		a.pictures += len(e.Block.Data)
		a.blocks = append(a.blocks, e.Block)
	case llm.EventUsage:
		a.usage, a.hasUsage = e.Usage, true
	case llm.EventRetry:
		s.State(protocol.RunRetrying, fmt.Sprintf("Trying again in %s: %s (%d of %d)", llm.Pause(e.Retry.After), e.Retry.Reason, e.Retry.Attempt, e.Retry.Of))
	case llm.EventStop:
		a.stop = e.Stop
		a.reason = cmp.Or(e.Text, a.reason)
	}
}

// lastBlock returns the last block if it is of the given kind and may continue, or nil.
func (a *answer) lastBlock(kind string) *protocol.Block {
	n := len(a.blocks) - 1
	if n < 0 || a.blocks[n].Type != kind || a.blocks[n].Signature != "" || a.blocks[n].Opaque != nil {
		return nil
	}
	return &a.blocks[n]
}

// openBlock returns the last block if it is of the given kind, otherwise a new one.
func (a *answer) openBlock(kind string) *protocol.Block {
	if b := a.lastBlock(kind); b != nil {
		return b
	}
	a.blocks = append(a.blocks, protocol.Block{Type: kind})
	return &a.blocks[len(a.blocks)-1]
}

// appendText appends a piece to the last block's text. The buffer matters, because an answer
// arrives in thousands of pieces.
func (a *answer) appendText(has, piece string) string {
	if a.buffer.String() != has { // the buffer holds another block's text
		a.buffer.Reset()
		a.buffer.WriteString(has)
	}
	a.buffer.WriteString(piece)
	return a.buffer.String()
}

// Limits of one answer, in bytes. A model that never stops would fill the memory.
const (
	maxAnswer   = 8 << 20
	maxPictures = 64 << 20
)

// truncate returns the part of a piece that still fits into the answer, and counts the whole piece.
func (a *answer) truncate(piece string) string {
	room := max(maxAnswer-a.bytes, 0)
	a.bytes += len(piece)
	return format.Head(piece, room)
}

// checkSize returns an error when the answer exceeds the limits.
func (a *answer) checkSize() error {
	if a.bytes <= maxAnswer && a.pictures <= maxPictures {
		return nil
	}
	return protocol.ErrModel.With(fmt.Sprintf("The answer was stopped: it is longer than %s.", format.Size(maxAnswer)))
}

// addSignature completes the open thinking block with the provider's signature.
func (a *answer) addSignature(b protocol.Block) {
	b.Type = protocol.BlockThinking
	if open := a.lastBlock(b.Type); open != nil && (b.Thinking == "" || b.Thinking == open.Thinking) && !b.Redacted {
		open.Signature, open.Opaque = b.Signature, b.Opaque
		return
	}
	a.blocks = append(a.blocks, b)
}

func (a *answer) addCall(e llm.Event) {
	b := e.Block
	b.Type = protocol.BlockToolCall
	if slices.ContainsFunc(a.blocks, func(other protocol.Block) bool { return other.Type == protocol.BlockToolCall && other.ID == b.ID }) {
		b.ID = "" // the model gave two calls the same ID
	}
	b.ID = cmp.Or(b.ID, "call_"+protocol.NewID())
	var object map[string]any
	if (len(b.Arguments) == 0 || string(b.Arguments) == "null") && e.BadArgs == "" {
		b.Arguments = json.RawMessage("{}")
	} else if e.BadArgs != "" || json.Unmarshal(b.Arguments, &object) != nil {
		// Stored with the message, so that a call has the same arguments after a restart.
		b.Arguments, _ = protocol.Marshal(cmp.Or(e.BadArgs, string(b.Arguments)))
	}
	a.blocks = append(a.blocks, b)
}

// problem returns why an answer is not complete, or nil. An answer that reached its length but has
// calls goes on with their results.
func (a *answer) problem(c protocol.Content) error {
	incomplete := func(text, advice string) error {
		return protocol.ErrIncomplete.With(strings.TrimSpace(strings.TrimRight(text, ". ") + ". " + advice))
	}
	const more = "Send “continue” for the rest."
	hasAnswer := c.Text() != "" || slices.ContainsFunc(c, func(b protocol.Block) bool { return b.Type == protocol.BlockImage })
	switch {
	case a.stop == llm.StopRefusal:
		return incomplete(cmp.Or(a.reason, "The model refused to answer"), "Change the message, or choose another model.")
	case len(c.Calls()) > 0:
		return nil
	case a.stop == llm.StopMaxTokens && hasAnswer:
		return incomplete("The answer is incomplete: "+cmp.Or(a.reason, "it reached the output limit of "+a.run.Ref.ID), more)
	case a.stop == llm.StopMaxTokens:
		return incomplete(cmp.Or(a.reason, a.run.Ref.ID+" reached its output limit before it answered"), "Choose a lower thinking level, or raise the output limit.")
	case a.stop == llm.StopIncomplete && hasAnswer:
		return incomplete("The answer is incomplete: "+cmp.Or(a.reason, "the provider stopped it"), more)
	case a.stop == llm.StopIncomplete:
		return incomplete(cmp.Or(a.reason, "The provider stopped before the model answered"), "Change the message, or choose another model.")
	case !hasAnswer:
		return protocol.ErrModel.With("The model returned an empty answer. Try again, or choose another model.")
	}
	return nil
}

func (a *answer) message() protocol.Message {
	m := protocol.Message{
		RunID: a.run.ID, Role: protocol.RoleAssistant, Provider: a.run.Ref.Provider, Model: a.run.Ref.ID, StopReason: a.stop,
		Timestamp: time.Now().UnixMilli(),
	}
	m.Content = slices.DeleteFunc(slices.Clone(a.blocks), func(b protocol.Block) bool { return b.Type == protocol.BlockText && strings.TrimSpace(b.Text) == "" })
	if a.hasUsage {
		u := a.usage
		llm.Complete(a.run.Info, &u)
		m.Usage = &u
	}
	return m
}

// badArguments returns the model's text, a JSON string, when the arguments of a call are not an
// object.
func badArguments(b protocol.Block) (raw string, bad bool) {
	err := json.Unmarshal(b.Arguments, &raw)
	return raw, err == nil && string(b.Arguments) != "null"
}
