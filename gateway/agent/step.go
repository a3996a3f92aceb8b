package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// runStep executes one model step and stores its output. done means that the model has finished.
func (r *Run) runStep(ctx context.Context) (done bool, err error) {
	r.Progress.Step(r.step)
	r.Progress.State(protocol.RunThinking, "")
	if err := r.makeRoom(ctx); err != nil {
		return true, err
	}
	if err := r.warnAboutPictures(ctx); err != nil {
		return true, err
	}
	req := llm.Request{
		System: r.System, Messages: withValidArguments(r.Conversation.Hydrate(ctx, llm.Repair(r.History, r.Info))), MaxTokens: r.MaxOut,
		Thinking: r.Thinking, CacheKey: string(r.Session),
	}
	for _, t := range r.Tools() {
		req.Tools = append(req.Tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	a, err := r.stream(ctx, req)
	if again, retryErr := r.fixRequest(ctx, a, err); again || retryErr != nil {
		return false, retryErr
	}
	m := a.message()
	switch {
	case err == nil && len(m.Content) == 0:
		err = protocol.ErrModel.With("The model returned an empty answer. Try again, or choose another model.")
	case err == nil && a.stop == llm.StopRefusal && len(m.Content.Calls()) == 0 && m.Content.Text() == "":
		err = protocol.ErrModel.With(strings.TrimSpace("The model refused to answer. " + a.refusal))
	}
	if err != nil {
		// The calls of an answer that was cut off are not run.
		m.Content = slices.DeleteFunc(m.Content, func(b protocol.Block) bool { return b.Type == protocol.BlockToolCall })
		m.StopReason = llm.StopError
		if context.Cause(ctx) != nil {
			m.StopReason = llm.StopAborted
		} else {
			m.ErrorMessage = err.Error()
		}
		if errors.Is(err, tool.ErrSuspended) || m.Content.Text() == "" {
			return true, err
		}
	}
	stored, storeErr := r.Conversation.Append(context.WithoutCancel(ctx), m)
	if storeErr != nil {
		return true, storeErr
	}
	r.History = append(r.History, stored...)
	if err != nil {
		return true, err
	}
	if m.Usage != nil {
		r.Progress.Used(*m.Usage)
	}
	return len(m.Content.Calls()) == 0, nil
}

// stream sends a request and collects the output, which it also returns with an error.
func (r *Run) stream(ctx context.Context, req llm.Request) (a answer, err error) {
	a = answer{run: r}
	stream, reset, stop := r.withSilenceLimit(ctx)
	defer stop()
	for e, streamErr := range r.Model.Stream(stream, req) {
		reset(e.Retry.After)
		if streamErr != nil {
			err = streamErr
			break
		}
		a.add(e)
		if err = a.checkSize(); err != nil {
			break
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	} else if err != nil && errors.Is(context.Cause(stream), protocol.ErrTimeout) {
		err = context.Cause(stream)
	}
	return a, err
}

// fixRequest changes the conversation after the provider refused its length or its pictures, and
// reports whether to repeat the step.
func (r *Run) fixRequest(ctx context.Context, a answer, cause error) (again bool, err error) {
	if cause == nil || len(a.blocks) > 0 {
		return false, nil
	}
	if errors.Is(cause, protocol.ErrContextOverflow) && !r.isCompacted {
		if again, err := r.compactAfterOverflow(ctx); again || err != nil {
			return again, err
		}
	}
	return r.retryWithoutPictures(ctx, cause)
}

// withSilenceLimit returns a context for one model step. It is cancelled when the model has sent
// nothing for r.SilenceLimit, plus the pause that was passed to the last call of reset.
func (r *Run) withSilenceLimit(ctx context.Context) (stream context.Context, reset func(pause time.Duration), stop func()) {
	if r.SilenceLimit <= 0 {
		return ctx, func(time.Duration) {}, func() {}
	}
	stream, cancel := context.WithCancelCause(ctx)
	silence := time.AfterFunc(r.SilenceLimit, func() {
		cancel(protocol.ErrTimeout.With(fmt.Sprintf("The model has sent nothing for %s. Try again, choose another model, or raise timeouts.llmMs.", llm.Pause(r.SilenceLimit))))
	})
	return stream, func(pause time.Duration) { silence.Reset(pause + r.SilenceLimit) }, func() { silence.Stop(); cancel(nil) }
}

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
	refusal  string // the provider's explanation of a refusal
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
		a.refusal = cmp.Or(e.Text, a.refusal)
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
	if len(piece) <= room {
		return piece
	}
	return strings.ToValidUTF8(piece[:room], "")
}

// checkSize returns an error when the answer exceeds the limits.
func (a *answer) checkSize() error {
	if a.bytes <= maxAnswer && a.pictures <= maxPictures {
		return nil
	}
	return protocol.ErrModel.With(fmt.Sprintf("The answer was stopped: it is longer than %s.", display.Size(maxAnswer)))
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

func (a *answer) message() protocol.Message {
	m := protocol.Message{
		RunID: a.run.ID, Role: protocol.RoleAssistant, Provider: a.run.Ref.Provider, Model: a.run.Ref.ID, StopReason: a.stop,
		Timestamp: time.Now().UnixMilli(),
	}
	m.Content = slices.DeleteFunc(slices.Clone(a.blocks), func(b protocol.Block) bool { return b.Type == protocol.BlockText && strings.TrimSpace(b.Text) == "" })
	if a.hasUsage {
		u := a.usage
		u.Total = cmp.Or(u.Total, u.Input+u.Output+u.CacheRead+u.CacheWrite)
		llm.Price(a.run.Info, &u)
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

// withValidArguments returns a copy in which calls with invalid arguments have empty ones, because
// providers accept only objects.
func withValidArguments(msgs []protocol.Message) []protocol.Message {
	out := slices.Clone(msgs)
	for i, m := range out {
		out[i].Content = slices.Clone(m.Content)
		for j, b := range m.Content {
			if _, bad := badArguments(b); bad && b.Type == protocol.BlockToolCall {
				out[i].Content[j].Arguments = json.RawMessage("{}")
			}
		}
	}
	return out
}
