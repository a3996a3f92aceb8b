package session

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"fairlead/gateway/agent"
	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
	"fairlead/gateway/session/summary"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// run is a run that has not ended. It implements agent.Conversation in conversation.go.
type run struct {
	x        *executor
	row      store.Run
	progress *progress
	cancel   context.CancelCauseFunc // nil while the run is queued
	done     chan struct{}           // closed when the run's goroutine has ended
	model    *openModel              // of the agent's run; only its goroutine uses it
}

// stop cancels the run as the person wants it. It does nothing before the run has started.
func (r *run) stop() {
	if r.cancel != nil {
		r.cancel(errCancelled)
	}
}

// finishUnlessSuspended finishes the run, unless the gateway is stopping: the next start resumes
// it.
func (r *run) finishUnlessSuspended(ctx context.Context, err error) {
	cause := context.Cause(ctx)
	if errors.Is(err, tool.ErrSuspended) || errors.Is(cause, tool.ErrSuspended) {
		return
	}
	if cause != nil {
		err = cause
	}
	r.finish(err)
}

// maxHistory is the number of messages that a run loads in a chat without compaction.
const maxHistory = 4000

// runAgent prepares and runs the agent loop.
func (r *run) runAgent(ctx context.Context) error {
	x, cfg := r.x, r.x.chats.settings.config()
	s, err := x.sessions.Get(ctx, r.row.Session)
	if err != nil {
		return x.pause.onStoreError(err)
	}
	_, d := splitDirectives(r.row)
	ref, thinking := x.chats.settings.model(s, d)
	r.progress.setModel(ref)
	if r.model, err = x.tasks.open(ctx, ref); err != nil {
		return err
	}
	info := r.model.info
	limit := maxHistory
	if s.CompactedThrough > 0 {
		limit = 0 // the summary may come before the last messages, and compaction limits their number
	}
	history, err := x.messages.List(ctx, r.row.Session, 0, limit)
	if err != nil {
		return x.pause.onStoreError(err)
	}
	loop := agent.Run{
		ID: r.row.ID, Session: r.row.Session, Model: r.model.Model, Info: info, Ref: ref, Thinking: thinking, MaxOut: s.Prefs.MaxTokens, MaxSteps: cfg.Agent.MaxSteps,
		SilenceLimit: time.Duration(cfg.Timeouts.LLM) * time.Millisecond, Keep: int64(cfg.Compaction.KeepRecentTokens),
		Tools: func() []protocol.ToolSpec { return x.tools.Tools(r.row.Session, info.MaxTools) }, Caller: x.tools, Ready: r.ready, AskContinue: r.askWhy, Conversation: r, Progress: r.progress,
		AskedBy: askedBy(r.row.Principal, title(s), ref), System: x.prompts.text(s, ref, r.row.Params.Node), History: summary.View(history, s.CompactedThrough),
	}
	if cfg.Compaction.Enabled {
		loop.Reserve = max(int64(cfg.Compaction.ReserveTokens), 1)
	}
	if info.ContextWindow != s.ContextWindow {
		if _, err := x.sessions.Update(ctx, s.Key, func(s *store.Session) { s.ContextWindow = info.ContextWindow }); err != nil {
			return x.pause.onStoreError(err)
		}
	}
	if more, err := r.askContinueAgain(ctx); err != nil || !more {
		return cmp.Or(err, error(protocol.ErrCancelled.With("Stopped. Send a message to continue.")))
	}
	return x.pause.onStoreError(loop.Do(ctx))
}

// ready blocks while the agent is paused, and fails when the budget is used up.
func (r *run) ready(ctx context.Context) error {
	if err := r.x.pause.wait(ctx); err != nil || r.model.ref.Provider == builtIn {
		return err
	}
	return r.x.tasks.budget.Check(ctx, r.model.info)
}

// finish stores the end of a run and publishes it: exactly once, with one terminal chat event.
func (r *run) finish(err error) {
	if !r.x.active.remove(r) {
		return
	}
	ctx := context.WithoutCancel(r.x.workers.Context())
	row := r.row
	msgs, msgsErr := r.x.messages.OfRun(ctx, row.ID)
	if msgsErr != nil {
		slog.Error("Reading the messages of a run failed", "run", row.ID, "err", msgsErr)
	}
	row.Answer = finalAnswer(msgs)
	info := r.progress.end(err, row.Answer)
	row.State, row.EndedAt, row.Step, row.Error = info.State, info.EndedAt, info.Step, info.Error
	if storeErr := r.x.pause.onStoreError(r.x.runs.Put(ctx, row)); storeErr != nil {
		slog.Error("Storing the end of a run failed", "run", row.ID, "err", storeErr)
	}
	if err != nil && !errors.Is(err, protocol.ErrStorage) && !isDirect(row) {
		r.postNotice(ctx, info)
	}
	r.progress.publish()
	r.x.chats.publishSession(row.Session)
	if err != nil {
		r.progress.publishChat(protocol.ChatEvent{State: protocol.ChatErrState, Error: err.Error()})
		return
	}
	r.progress.publishChat(protocol.ChatEvent{State: protocol.ChatFinal, Message: lastMessage(row.ID, msgs)})
	r.x.titles.add(r, msgs)
}

// postNotice adds a notice for people about a failed or cancelled run.
func (r *run) postNotice(ctx context.Context, info protocol.RunInfo) {
	if r.row.StartedAt == 0 && info.State == protocol.RunCancelled {
		return // the run was still queued
	}
	msg := notice(r.row.ID, "Stopped.")
	if info.Error != nil {
		msg = notice(r.row.ID, info.Error.Message)
		msg.StopReason, msg.ErrorMessage = llm.StopError, info.Error.Message
		if errors.Is(info.Error, protocol.ErrIncomplete) {
			msg.StopReason = llm.StopIncomplete
		}
	}
	if _, err := r.Append(ctx, msg); err != nil {
		slog.Error("Storing a notice failed", "run", r.row.ID, "err", err)
	}
}

// notice returns a message that only people see, not the model.
func notice(id protocol.RunID, text string) protocol.Message {
	return protocol.Message{
		RunID: id, Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text(text)}, Timestamp: now(),
	}
}

// finalAnswer returns the last text that the agent wrote in a run.
func finalAnswer(msgs []protocol.Message) string {
	for _, m := range slices.Backward(msgs) {
		if m.Role == protocol.RoleAssistant && m.Origin == protocol.OriginPerson && m.Content.Text() != "" {
			return m.Content.Text()
		}
	}
	return ""
}

// maxFirstLine is the greatest length of the line of an answer that notifications show, in
// characters.
const maxFirstLine = 200

// lastMessage returns the last one of a run's messages.
func lastMessage(id protocol.RunID, msgs []protocol.Message) *protocol.Message {
	if len(msgs) == 0 {
		return &protocol.Message{RunID: id, Role: protocol.RoleAssistant, Content: protocol.Content{}, Timestamp: now()}
	}
	return &msgs[len(msgs)-1]
}
