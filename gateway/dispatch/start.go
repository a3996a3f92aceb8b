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

// started is a call without a waiting goroutine: it continues on the goroutine that reads the
// node's response.
type started struct {
	task
	ctx    context.Context // ends with the caller
	limit  time.Duration
	beside func(func())
	done   func(Result, error)

	mu     sync.Mutex // guards the fields below
	sent   *nodes.Started
	ended  bool
	cause  error // set when it was cancelled
	timer  *time.Timer
	leave  func() bool
	cancel context.CancelCauseFunc // set once a goroutine waits for it after all
}

// Start is [Dispatcher.Call] for calls so frequent that waking a goroutine for each step would be
// most of the work: direct calls of a read-only tool that wait for nothing but the node. It never
// blocks. done gets the result of Call without Content; it may be called before Start returns, on
// the goroutine that reads from the node, so it must not block either. Longer work is run by
// beside, which must not block. For any other call, Start does nothing and returns false.
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
		return false // Call returns the error
	}
	verdict := s.rules.Weigh(s.asked())
	if verdict.Verdict != approval.Allow || verdict.Rule != "" {
		return false // the use of that rule is counted
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

// watch limits the call's time, and ends it with its caller.
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

// take continues with a call that was cancelled.
func (s *started) take(sent *nodes.Started, cause error) {
	if !sent.Stop() {
		return // the call ended first
	}
	s.settle()
	s.beside(func() {
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(s.ctx))
		defer cancel(nil)
		if cause != errTimeout { // errTimeout is the call's own cause
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

// maxHere is the largest result, in bytes, that is hashed and forwarded on the reader, where other
// results wait.
const maxHere = 64 << 10

// end handles the node's response.
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

// settle releases the timer and the context that could still end the call.
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
