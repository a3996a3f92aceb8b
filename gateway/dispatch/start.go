package dispatch

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
)

// started is a call that no goroutine waits for: it goes on where its machine's answer is read.
type started struct {
	task
	ctx    context.Context // ends with whoever asked
	limit  time.Duration
	beside func(func())
	done   func(Result, error)

	mu     sync.Mutex // guards what follows
	sent   *nodes.Started
	ended  bool
	cause  error // it was stopped
	timer  *time.Timer
	leave  func() bool
	cancel context.CancelCauseFunc // set once a goroutine waits for it after all
}

// Start is [Dispatcher.Call] for what is done so often that waking a goroutine for each step of it would be most of the work: a person's or
// program's own call of a tool that only reads, which nothing has to be waited for but its machine. It never blocks. done is given what Call would
// return, but no Content; it may be called before Start returns, on the goroutine that reads from the machine, so it must not block either.
// What turns out to take longer is run by beside, which must not block. Start reports false, and has done nothing, for any other call.
func (d *Dispatcher) Start(ctx context.Context, p auth.Principal, c Call, beside func(func()), done func(Result, error)) bool {
	if !c.Direct || c.ID != "" || c.Act != nil || c.Session != "" || c.OnStart != nil || ctx.Err() != nil {
		return false
	}
	node, spec, err := d.nodes.Lookup(c.Tool)
	if err != nil || node == protocol.NativePrefix || spec.Effect != protocol.EffectRead || spec.EffectOf != nil {
		return false
	}
	c.ID = protocol.NewCallID()
	s := &started{task: task{Dispatcher: d, call: c}, ctx: ctx, beside: beside, done: done}
	if s.prepare(ctx, p) != nil || s.spec.Effect != protocol.EffectRead {
		return false // Call says why
	}
	verdict := s.rules.Weigh(s.asked())
	if verdict.Verdict != approval.Allow || verdict.Rule != "" {
		return false // that rule's use is counted
	}
	s.credit(verdict)
	s.row.Info.State, s.row.Info.StartedAt = protocol.CallRunning, time.Now().UnixMilli()
	inv, err := s.invocation()
	if err != nil || !s.journal.PutSoon(entry(s.row)) {
		return false
	}
	s.stored, s.limit = true, s.task.limit()
	d.mu.Lock()
	d.open[c.ID] = &running{cancel: s.stop}
	d.mu.Unlock()
	running := s.show(s.row.Info)
	sent := s.nodes.Start(running.Node, inv, s.progress(running), s.end)
	if sent == nil {
		beside(func() { s.wait(inv, running) })
		return true
	}
	s.watch(sent)
	return true
}

// watch bounds the call's time, and ends it with whoever asked.
func (s *started) watch(sent *nodes.Started) {
	s.mu.Lock()
	s.sent = sent
	cause := s.cause
	if cause == nil && !s.ended {
		s.timer = time.AfterFunc(s.limit, func() { s.stop(errTimeout) })
		s.leave = context.AfterFunc(s.ctx, func() { s.stop(context.Cause(s.ctx)) })
	}
	s.mu.Unlock()
	if cause != nil {
		s.take(sent, cause)
	}
}

// stop ends the call early.
func (s *started) stop(cause error) {
	s.mu.Lock()
	first := s.cause == nil && !s.ended
	if first {
		s.cause = cause
	}
	sent, cancel := s.sent, s.cancel
	s.mu.Unlock()
	switch {
	case cancel != nil:
		cancel(cause)
	case first && sent != nil:
		s.take(sent, cause)
	}
}

// take goes on with a call that was stopped.
func (s *started) take(sent *nodes.Started, cause error) {
	if !sent.Stop() {
		return // its end came first
	}
	s.settle()
	s.beside(func() {
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(s.ctx))
		defer cancel(nil)
		if cause != errTimeout { // which is the call's own
			cancel(cause)
		}
		s.finish(s.outcome(ctx, sent.Late(ctx), cause, s.limit))
	})
}

// wait makes the call as Call does.
func (s *started) wait(inv protocol.ToolInvoke, running *protocol.CallInfo) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	s.mu.Lock()
	s.cancel = cancel
	if s.cause != nil {
		cancel(s.cause)
	}
	s.mu.Unlock()
	late, stop := context.WithTimeoutCause(ctx, s.limit, errTimeout)
	defer stop()
	raw, err := s.nodes.Call(late, running.Node, inv, s.progress(running))
	s.finish(s.outcome(ctx, raw, err, s.limit))
}

// maxHere is the largest result that is hashed and passed on where it is read, in bytes: others wait there for theirs.
const maxHere = 64 << 10

// end takes what the machine says.
func (s *started) end(raw json.RawMessage, err error) {
	s.settle()
	if err == nil && len(raw) <= maxHere {
		state := s.read(raw)
		s.close(state, raw, "")
		if won, ok := s.journal.FinishSoon(entry(s.row)); ok {
			if !won {
				slog.Warn("A call had ended already", "call", s.call.ID)
			}
			s.show(s.row.Info)
			s.finish(Result{Info: s.row.Info, Raw: raw}, nil)
			return
		}
	}
	s.beside(func() { s.finish(s.outcome(s.ctx, raw, err, s.limit)) })
}

// settle lets go of what could still end the call.
func (s *started) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
		s.leave()
	}
}

func (s *started) finish(res Result, err error) {
	s.Dispatcher.mu.Lock()
	delete(s.open, s.call.ID)
	s.Dispatcher.mu.Unlock()
	slog.Info("Call ended", "call", s.call.ID, "tool", s.call.Tool, "principal", s.row.Principal, "state", res.Info.State, "err", err)
	s.done(res, err)
}
