// Package agent executes one run of the agent loop: a model step, the tool calls that it requested,
// the next step, until the model has finished. It does no I/O of its own: the model, the tools and
// the conversation are interfaces.
//
// A run can be resumed after a restart: when the conversation ends with calls that have no results,
// the run starts with these. The ID of a call is derived from its message, so that the journal
// recognizes it.
package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/llm"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// Caller runs tools.
type Caller interface {
	Run(ctx context.Context, c tool.Call) (tool.Result, error)
}

// Conversation stores the messages of the run.
type Conversation interface {
	// Append stores messages durably before it returns, and assigns their IDs.
	Append(ctx context.Context, msgs ...protocol.Message) ([]protocol.Message, error)
	// Shorten reduces the conversation to its newest messages of about keep tokens, with a summary
	// in front. It returns nil when nothing can be removed.
	Shorten(ctx context.Context, keep int64) ([]protocol.Message, error)
	// Hydrate returns copies of the messages as a model receives them, such as with image data.
	Hydrate(ctx context.Context, msgs []protocol.Message) []protocol.Message
}

// Progress shows people what the run does.
type Progress interface {
	// Step begins a model step.
	Step(step int)
	Delta(thinking bool, text string)
	// State shows the activity of the run. notice may be empty.
	State(state, notice string)
	// Used adds a step's tokens to the run's usage.
	Used(u protocol.Usage)
	// OnAsk shows that an approval is pending, or that it has ended.
	OnAsk(a protocol.Question)
}

// Run configures and executes one run.
type Run struct {
	ID       protocol.RunID
	Session  protocol.SessionKey
	Model    llm.Model
	Info     protocol.ModelInfo
	Ref      protocol.ModelRef
	System   string
	Thinking string
	MaxOut   int
	MaxSteps int // model steps before the person is asked whether to continue
	// SilenceLimit is the longest time without output from the model; 0 means no limit.
	SilenceLimit time.Duration
	Reserve      int64 // tokens of the window to reserve by shortening the conversation in time; 0 never shortens it
	Keep         int64 // tokens of the newest messages that remain after shortening
	// Tools lists the available tools, for every step.
	Tools  func() []protocol.ToolSpec
	Caller Caller
	// Ready blocks while the agent is paused.
	Ready func(ctx context.Context) error
	// AskContinue asks the person whether to continue, and says why the run stopped.
	AskContinue  func(ctx context.Context, why string) (bool, error)
	Conversation Conversation
	Progress     Progress
	AskedBy      protocol.AskedBy
	// History is the conversation so far. Do takes ownership.
	History []protocol.Message

	step             int
	isCompacted      bool // because the provider refused its length
	hasPictureNotice bool // the notice about an invisible picture was sent
	// omitted is what the next request leaves out although no notice says so yet, with the sentence
	// about it.
	omitted     *protocol.Omission
	omittedText string
	fixes       int // requests that were changed after a refusal
}

// Do executes the run. It returns nil when the model has finished, the context's cause when the run
// was cancelled, and otherwise the failure. In every case, the output so far has been stored.
func (r *Run) Do(ctx context.Context) error {
	if done, err := r.isFinished(); done {
		return err
	}
	limit, repeats := r.MaxSteps, repeatsBeforeQuestion
	for {
		if m, calls := r.openCalls(); len(calls) > 0 {
			if err := r.runCalls(ctx, m, calls); err != nil {
				return err
			}
		}
		if err := r.Ready(ctx); err != nil {
			return err
		}
		why := ""
		if n := r.repeatedSteps(); n >= repeats {
			why = fmt.Sprintf("the agent's last %d steps repeated earlier calls, with the same results", n)
			repeats = n + repeatsBeforeQuestion + 1
		} else if r.step >= limit {
			why = "the agent has taken " + format.Plural(r.step, "step") + " without finishing"
			limit += r.MaxSteps
		}
		if why != "" {
			more, err := r.AskContinue(ctx, why)
			if err != nil {
				return err
			}
			if !more {
				return protocol.ErrCancelled.With("Stopped after " + format.Plural(r.step, "step") + ". Send a message to continue.")
			}
		}
		r.step++
		done, err := r.runStep(ctx)
		if done || err != nil {
			return err
		}
	}
}

// isFinished reports whether an earlier start completed the run and only failed to store that. The
// error is that of an incomplete answer.
func (r *Run) isFinished() (bool, error) {
	for _, m := range slices.Backward(r.History) {
		switch {
		case m.OutsideConversation():
			continue
		case m.Role != protocol.RoleAssistant || m.RunID != r.ID || m.StopReason == llm.StopError || len(m.Content.Calls()) > 0:
			return false, nil
		case m.ErrorMessage != "":
			return true, protocol.ErrIncomplete.With(m.ErrorMessage)
		}
		return true, nil
	}
	return false, nil
}

// openCalls returns the last assistant message, and those of its calls that have no result yet.
func (r *Run) openCalls() (m protocol.Message, calls []protocol.Block) {
	answered := make(map[string]bool)
	for _, m := range slices.Backward(r.History) {
		switch {
		case m.OutsideConversation():
		case m.Role == protocol.RoleToolResult:
			answered[m.ToolCallID] = true
		case m.Role == protocol.RoleAssistant:
			return m, slices.DeleteFunc(m.Content.Calls(), func(c protocol.Block) bool { return answered[c.ID] })
		default:
			return m, nil
		}
	}
	return m, nil
}

// runCalls runs a turn's calls in parallel and stores their results in order. When the run is
// cancelled, each call still gets a result, because models require one. When the gateway stops,
// none is stored: the next start continues here.
func (r *Run) runCalls(ctx context.Context, m protocol.Message, calls []protocol.Block) error {
	r.Progress.State(protocol.RunTools, "")
	results := make([]protocol.Message, len(calls))
	errs := make([]error, len(calls))
	var wg crash.Group
	for i, c := range calls {
		begun := make(chan struct{})
		onBegin := sync.OnceFunc(func() { close(begun) })
		wg.Go(func() {
			defer onBegin()
			results[i], errs[i] = r.runCall(ctx, m, c, onBegin)
		})
		<-begun // approvals are asked in the order of the calls; execution is parallel
	}
	wg.Wait()
	if err := context.Cause(ctx); errors.Is(err, tool.ErrSuspended) {
		return err
	}
	for _, err := range errs {
		if errors.Is(err, protocol.ErrStorage) {
			return err
		}
	}
	r.noteRepetition(results)
	stored, err := r.Conversation.Append(context.WithoutCancel(ctx), results...)
	if err != nil {
		return err
	}
	r.History = append(r.History, stored...)
	return context.Cause(ctx)
}

// CallID derives the ID of a call from its stored message, so it is the same after a restart.
func CallID(message protocol.MessageID, toolCallID string) protocol.CallID {
	sum := sha256.Sum256([]byte(string(message) + "\x00" + toolCallID))
	return protocol.CallID(hex.EncodeToString(sum[:16]))
}

// runCall runs one call and returns its result message. It calls onBegin when the call starts to
// execute or its approval is pending. An error becomes a result for the model.
func (r *Run) runCall(ctx context.Context, m protocol.Message, c protocol.Block, onBegin func()) (result protocol.Message, err error) {
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
	var crashed error
	defer func() {
		if crashed != nil {
			result, err = fail(crashed.Error()), nil
		}
	}()
	defer crash.Recover(&crashed, "tool "+c.Name)
	if raw, broken := badArguments(c); broken && m.StopReason == llm.StopMaxTokens {
		return fail("the answer reached its length before the arguments were complete. Write less in one call."), nil
	} else if broken {
		return fail(fmt.Sprintf("the arguments are not a JSON object: %.200s", raw)), nil
	}
	by := r.AskedBy
	// A call from before a restart may have been made by another model than the current one.
	if m.Model != "" {
		by.Model = protocol.ModelRef{Provider: m.Provider, ID: m.Model}.String()
	}
	res, err := r.Caller.Run(ctx, tool.Call{
		Principal: auth.Agent(r.Session, r.ID),
		ID:        CallID(m.ID, c.ID), ToolCallID: c.ID,
		Tool: protocol.ToolName(c.Name), Args: c.Arguments, Session: r.Session, Run: r.ID, AskedBy: by, Iteration: r.step,
		OnStart: onBegin,
		OnApproval: func(a protocol.Question) {
			r.Progress.OnAsk(a)
			if a.State == protocol.QuestionPending {
				onBegin()
			}
		},
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
	info.Tail = "" // it is part of the content
	out.IsError, out.Content, out.Call, out.Timestamp = res.IsError, res.Content, &info, time.Now().UnixMilli()
	return out, nil
}
