package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/dispatch"
	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// Caller runs tools.
type Caller interface {
	Call(ctx context.Context, p auth.Principal, c dispatch.Call) (dispatch.Result, error)
}

// Sink is the conversation that the run writes to.
type Sink interface {
	// Append stores messages for good before it returns, and gives them ids.
	Append(ctx context.Context, msgs ...protocol.Message) ([]protocol.Message, error)
	// Ready blocks while the agent is paused.
	Ready(ctx context.Context) error
	// Step begins a model step; what it says follows as deltas.
	Step(step int)
	Delta(thinking bool, text string)
	// State shows what the run does; notice may be empty.
	State(state, notice string)
	// Used adds a step's tokens.
	Used(u protocol.Usage)
	// AskContinue asks whether to go on after steps model steps.
	AskContinue(ctx context.Context, steps int) (bool, error)
	// OnAsk shows that a question is open, and its end.
	OnAsk(a protocol.Approval)
	// Shorten cuts the conversation down to its newest messages of about keep tokens and returns what is left, with a summary in front. No
	// history means that nothing can be cut.
	Shorten(ctx context.Context, keep int64) ([]protocol.Message, error)
	// Hydrate makes of stored messages what a model is sent: images have their data. The messages given are not changed.
	Hydrate(ctx context.Context, msgs []protocol.Message) []protocol.Message
}

// Run is what one run needs.
type Run struct {
	ID       protocol.RunID
	Session  protocol.SessionKey
	Model    llm.Model
	Info     protocol.ModelInfo
	Ref      protocol.ModelRef
	System   string
	Thinking string
	MaxOut   int
	MaxSteps int // model steps before the person is asked
	// Patience is how long the model may be silent; 0 is for ever.
	Patience time.Duration
	Reserve  int64 // tokens of the window to keep free, by shortening the conversation in time; 0 never shortens it
	Keep     int64 // tokens of the newest messages that are left then
	// Tools lists what can be called, anew for every step.
	Tools   func() []protocol.ToolSpec
	Caller  Caller
	Sink    Sink
	AskedBy protocol.AskedBy
	// History is the conversation so far. Do owns it from here on.
	History []protocol.Message

	step      int
	shortened bool // because the provider said that it is too much
	toldBlind bool // of a picture that the model does not see
}

// Do runs to the end. A nil error means the model has finished; context causes mean that it was stopped; anything else is why it failed, as
// *protocol.Error where the cause is known. What was said by then is stored in every case.
func (r *Run) Do(ctx context.Context) error {
	if r.finished() {
		return nil
	}
	asked := r.MaxSteps
	for {
		if open := r.openCalls(); len(open.calls) > 0 {
			if err := r.tools(ctx, open); err != nil {
				return err
			}
		}
		if err := r.Sink.Ready(ctx); err != nil {
			return err
		}
		if r.step >= asked {
			more, err := r.Sink.AskContinue(ctx, r.step)
			if err != nil {
				return err
			}
			if !more {
				return protocol.ErrCancelled.With("Stopped after " + protocol.Plural(r.step, "step") + ". Send a message to go on.")
			}
			asked += r.MaxSteps
		}
		r.step++
		done, err := r.model(ctx)
		if done || err != nil {
			return err
		}
	}
}

// finished reports whether an earlier start had come to the last word and only not written so down.
func (r *Run) finished() bool {
	for i := len(r.History) - 1; i >= 0; i-- {
		if m := r.History[i]; !m.Beside() {
			return m.Role == protocol.RoleAssistant && m.RunID == r.ID && m.StopReason != llm.StopError && len(m.Content.Calls()) == 0
		}
	}
	return false
}

// turn is an assistant message whose calls are to be run.
type turn struct {
	message protocol.Message
	calls   []protocol.Block
}

// openCalls finds the calls of the last assistant message that have no result yet.
func (r *Run) openCalls() turn {
	answered := make(map[string]bool)
	for i := len(r.History) - 1; i >= 0; i-- {
		m := r.History[i]
		if m.Beside() {
			continue
		}
		switch m.Role {
		case protocol.RoleToolResult:
			answered[m.ToolCallID] = true
		case protocol.RoleAssistant:
			t := turn{message: m}
			for _, c := range m.Content.Calls() {
				if !answered[c.ID] {
					t.calls = append(t.calls, c)
				}
			}
			return t
		case protocol.RoleUser:
			return turn{}
		}
	}
	return turn{}
}

// tools runs a turn's calls side by side and stores their results in the order of the calls. When the run is stopped each call still
// gets a result, so that the conversation stays one that models accept; when the gateway stops, none: the next start goes on here.
func (r *Run) tools(ctx context.Context, t turn) error {
	r.Sink.State(protocol.RunTools, "")
	results := make([]protocol.Message, len(t.calls))
	errs := make([]error, len(t.calls))
	var wg sync.WaitGroup
	for i, c := range t.calls {
		settled := make(chan struct{})
		settle := sync.OnceFunc(func() { close(settled) })
		wg.Go(func() {
			defer settle()
			results[i], errs[i] = r.call(ctx, t.message, c, settle)
		})
		<-settled // so that questions come in the order of the calls; what runs, runs side by side
	}
	wg.Wait()
	if err := context.Cause(ctx); errors.Is(err, approval.ErrSuspended) {
		return err
	}
	for _, err := range errs {
		if errors.Is(err, protocol.ErrStorage) {
			return err
		}
	}
	stored, err := r.Sink.Append(context.WithoutCancel(ctx), results...)
	if err != nil {
		return err
	}
	r.History = append(r.History, stored...)
	return context.Cause(ctx)
}

// CallID is the id of a call in a stored message: the same after a restart.
func CallID(message protocol.MessageID, toolCallID string) protocol.CallID {
	sum := sha256.Sum256([]byte(string(message) + "\x00" + toolCallID))
	return protocol.CallID(hex.EncodeToString(sum[:16]))
}

// call runs one call and makes its result message; settled is called when it runs, or its question is put. An error of ours becomes a result that tells the model, except where the run cannot go on.
func (r *Run) call(ctx context.Context, m protocol.Message, c protocol.Block, settled func()) (protocol.Message, error) {
	out := protocol.Message{RunID: r.ID, Role: protocol.RoleToolResult, ToolCallID: c.ID, ToolName: protocol.ToolName(c.Name)}
	fail := func(text string) protocol.Message {
		node, bare, _ := protocol.ToolName(c.Name).Split()
		out.IsError, out.Content, out.Timestamp = true, protocol.Content{protocol.Text(protocol.FailureText(node, text))}, time.Now().UnixMilli()
		out.Call = &protocol.CallInfo{
			CallID: CallID(m.ID, c.ID), ToolCallID: c.ID, RunID: r.ID, SessionKey: r.Session, Tool: bare, Args: c.Arguments,
			State: protocol.CallFailed, Error: text,
		}
		return out
	}
	if raw, broken := badArguments(c); broken {
		return fail(fmt.Sprintf("the arguments are not a JSON object: %.200s", raw)), nil
	}
	by := r.AskedBy
	if m.Model != "" { // of a call from before a restart it may be another than the one chosen now
		by.Model = protocol.ModelRef{Provider: m.Provider, ID: m.Model}.String()
	}
	res, err := r.Caller.Call(ctx, auth.Agent(r.Session, r.ID), dispatch.Call{
		ID: CallID(m.ID, c.ID), ToolCallID: c.ID,
		Tool: protocol.ToolName(c.Name), Args: c.Arguments, Session: r.Session, Run: r.ID, AskedBy: by, Iteration: r.step,
		OnStart: settled, OnPut: settled, OnAsk: r.Sink.OnAsk,
	})
	if err != nil {
		if context.Cause(ctx) != nil {
			m := fail("stopped")
			m.Call.State = protocol.CallCancelled
			return m, err
		}
		return fail(err.Error()), err
	}
	info := res.Info
	info.Tail = "" // the content has it
	out.IsError, out.Content, out.Call, out.Timestamp = res.IsError, res.Content, &info, time.Now().UnixMilli()
	return out, nil
}
