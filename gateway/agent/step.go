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
	"fairlead/gateway/peer/crash"
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
		System: r.System, Messages: withValidArguments(r.Conversation.Hydrate(ctx, llm.Repair(r.visibleHistory(), r.Info))), MaxTokens: r.MaxOut,
		Thinking: r.Thinking, CacheKey: string(r.Session),
	}
	for _, t := range r.visibleTools() {
		req.Tools = append(req.Tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.InputSchema})
	}
	a, err := r.stream(ctx, req)
	if again, retryErr := r.fixRequest(ctx, req, a, err); again || retryErr != nil {
		return false, retryErr
	}
	if err == nil {
		if err := r.postOmission(ctx); err != nil {
			return true, err
		}
	}
	m := a.message()
	if err == nil {
		if m.Usage != nil {
			r.Progress.Used(*m.Usage)
		}
		err = a.problem(m.Content)
	}
	if err != nil {
		// The calls of an answer that was cut off are not run.
		m.Content = slices.DeleteFunc(m.Content, func(b protocol.Block) bool { return b.Type == protocol.BlockToolCall })
		m.ErrorMessage = err.Error()
		switch {
		case context.Cause(ctx) != nil:
			m.StopReason, m.ErrorMessage = llm.StopAborted, ""
		case !errors.Is(err, protocol.ErrIncomplete):
			m.StopReason = llm.StopError
		}
		if errors.Is(err, tool.ErrSuspended) {
			return true, err
		}
	}
	if err == nil || m.Content.Text() != "" {
		stored, storeErr := r.Conversation.Append(context.WithoutCancel(ctx), m)
		if storeErr != nil {
			return true, storeErr
		}
		r.History = append(r.History, stored...)
	}
	if isFiltered(a.stop, err) && context.Cause(ctx) == nil {
		ids, text := conversation{r.History, r.Ref}.messagesToOmit()
		r.omitted, r.omittedText = &protocol.Omission{Messages: ids}, text
		if storeErr := r.postOmission(context.WithoutCancel(ctx)); storeErr != nil {
			return true, storeErr
		}
	}
	return err != nil || len(m.Content.Calls()) == 0, err
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

// maxFixes limits the requests of a run that leave something out, after a refusal.
const maxFixes = 40

// fixRequest changes the conversation or leaves a part of it out, after the provider refused it,
// and reports whether to repeat the step.
func (r *Run) fixRequest(ctx context.Context, req llm.Request, a answer, cause error) (again bool, err error) {
	if cause == nil || len(a.blocks) > 0 || context.Cause(ctx) != nil {
		return false, nil
	}
	if errors.Is(cause, protocol.ErrContextOverflow) && !r.isCompacted {
		if again, err := r.compactAfterOverflow(ctx); again || err != nil {
			return again, err
		}
	}
	o, text := r.omissionFor(ctx, cause, req.Tools)
	if r.fixes++; o == nil || r.fixes > maxFixes {
		if errors.Is(cause, protocol.ErrContextOverflow) && r.fixedTokens() > llm.EstimateTokens(r.visibleHistory()) {
			return false, protocol.ErrContextOverflow.With(fmt.Sprintf("%s. The instructions and the tools have about %d tokens of it. "+
				"Turn off skills or MCP servers, send /reset, or choose a model with a larger context.", strings.TrimRight(cause.Error(), ". "), r.fixedTokens()))
		}
		return false, nil
	}
	r.omitted = o
	r.omittedText = cmp.Or(text, r.omittedText)
	r.step-- // repeat the same step
	return true, nil
}

// withSilenceLimit returns a context for one model step. It is cancelled when the model has sent
// nothing for r.SilenceLimit, plus the pause that was passed to the last call of reset.
func (r *Run) withSilenceLimit(ctx context.Context) (stream context.Context, reset func(pause time.Duration), stop func()) {
	if r.SilenceLimit <= 0 {
		return ctx, func(time.Duration) {}, func() {}
	}
	stream, cancel := context.WithCancelCause(ctx)
	silence := crash.AfterFunc(r.SilenceLimit, func() {
		cancel(protocol.ErrTimeout.With(fmt.Sprintf("The model has sent nothing for %s. Try again, choose another model, or raise timeouts.llmMs.", llm.Pause(r.SilenceLimit))))
	})
	return stream, func(pause time.Duration) { silence.Reset(pause + r.SilenceLimit) }, func() { silence.Stop(); cancel(nil) }
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
