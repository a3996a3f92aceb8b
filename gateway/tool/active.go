package tool

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// activeCall takes one call through the stages, which fill its parts.
type activeCall struct {
	subject   subject
	judgement judgement
	permit    permit
	entry     entry
	lookupErr error  // why the tool was not found
	release   func() // removes the call from those in progress

	registry *Registry
	judge    judge
	asker    asker
	bus      *event.Bus
	config   func() config.Config
}

// stage is one step of a call. A stage that ends the call stores its end, and returns no error.
type stage func(context.Context) error

// through takes a call through its stages until one of them ends it. It always closes a call that
// an earlier start left waiting, one whose context ends early, and one that panics.
func (a *activeCall) through(ctx context.Context, stages ...stage) error {
	e := &a.entry
	var err error
	for _, run := range stages {
		if err = crash.Call("tool "+string(a.subject.call.Tool), func() error { return run(ctx) }, "call", a.subject.call.ID); err != nil || e.ended {
			break
		}
	}
	crashed, hasCrashed := errors.AsType[*crash.Error](err)
	switch {
	case err == nil || e.ended || errors.Is(err, protocol.ErrStorage) || errors.Is(err, ErrSuspended):
		return err
	case e.record.Info.CallID == "":
		return err // nothing was published about it
	case hasCrashed: // what a call that was running has done by then is not known
		state, text := protocol.CallFailed, crashed.Error()
		if info := e.record.Info; info.State == protocol.CallRunning && info.Effect != protocol.EffectRead {
			state, text = protocol.CallUnknown, text+". "+unknownText(e.record)
		}
		e.record.Info.Fault = endFault(protocol.FaultInternal, text, state)
		return e.end(ctx, state, nil, text)
	case context.Cause(ctx) != nil:
		return e.stop(ctx, nil)
	case e.stored:
		return e.end(ctx, protocol.CallFailed, nil, err.Error())
	}
	return err
}

// reconnectLimit is the time that a call from before a restart waits for its node. It is longer
// than the longest pause between two connection attempts of a node.
const reconnectLimit = 45 * time.Second

// resolve finds the tool. After a restart, an approved call waits for its node to reconnect.
func (a *activeCall) resolve(ctx context.Context) error {
	defer func() { _, a.entry.isRepeated = a.subject.target.target.(rejoiner) }()
	if a.subject.call.FileOperation != nil {
		a.subject.target, a.lookupErr = a.registry.fileOperation(a.subject.call)
		return nil
	}
	isOffline := func() bool {
		a.subject.target, a.lookupErr = a.registry.Lookup(a.subject.call.Tool)
		return errors.Is(a.lookupErr, protocol.ErrUnavailable)
	}
	if isOffline() && a.entry.stored {
		waitForNodes(ctx, a.bus, func() bool { return !isOffline() })
		return context.Cause(ctx)
	}
	return nil
}

// waitForNodes waits until ready, which depends on nodes, returns true, or reconnectLimit is over.
func waitForNodes(ctx context.Context, bus *event.Bus, ready func() bool) {
	sub := bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNode })
	defer sub.Close()
	if ready() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, reconnectLimit)
	defer cancel()
	for range sub.All(ctx) {
		if ready() {
			return
		}
	}
}

// validate checks the arguments, and fills the record.
func (a *activeCall) validate(context.Context) error {
	if err := a.subject.validate(); err != nil {
		return err
	}
	c, spec, old := &a.subject.call, a.subject.target.Spec, a.entry.record
	if c.IdempotencyKey == "" {
		var err error
		if c.IdempotencyKey, err = idempotencyKey(*c); err != nil {
			return err
		}
	}
	a.entry.record = Record{Entry: Entry{
		Info: protocol.CallInfo{
			CallID: c.ID, ToolCallID: c.ToolCallID, SessionKey: c.Session, RunID: c.Run, Node: a.subject.target.Node, Tool: spec.Name,
			Args: c.Args, Effect: spec.Effect, State: protocol.CallWaiting, Direct: c.Direct, Undo: c.Undo, ApprovalID: old.Info.ApprovalID,
		},
		AskedBy: c.AskedBy, Principal: c.Principal.String(), App: c.Principal.App, IdempotencyKey: c.IdempotencyKey, Idempotent: spec.Idempotent,
		Attempt: old.Attempt + 1, CreatedAt: time.Now().UnixMilli(), Iteration: c.Iteration,
	}, Resumed: c.Resumed, Of: c.Of}
	return nil
}

// idempotencyKey returns a key that is stable over retries and restarts, and differs for other
// arguments. See docs/protocol.md#tools-and-calls.
func idempotencyKey(c Call) (string, error) {
	args, err := protocol.Canonical(c.Args)
	if err != nil {
		return "", err
	}
	id := c.ToolCallID
	if id == "" {
		id = string(c.ID)
	}
	hash := sha256.New()
	for _, part := range []string{"fairlead", string(c.Run), id, string(c.Tool), string(args)} {
		fmt.Fprintf(hash, "%d:%s", len(part), part)
	}
	return "k1:" + base32.StdEncoding.EncodeToString(hash.Sum(nil))[:32], nil
}

// preview asks what the call would do. A call that cannot work needs no approval. One of the person
// has a preview too: it says which files a deny rule is compared with, and which folders to open.
func (a *activeCall) preview(ctx context.Context) error {
	problem, err := a.inspect(ctx)
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return a.entry.stop(ctx, nil)
	case problem != "":
		return a.entry.end(ctx, protocol.CallFailed, nil, problem)
	}
	return nil // the policy decides on a call without a preview, too
}

// inspect finds out what the call would do, and records it. problem says why it cannot work.
func (a *activeCall) inspect(ctx context.Context) (problem string, err error) {
	info := &a.entry.record.Info
	problem, info.Fault, err = a.subject.inspect(ctx)
	info.Preview = a.subject.preview
	return problem, err
}

// decide lets the policy decide. A denied call ends here.
func (a *activeCall) decide(ctx context.Context) error {
	if err := a.updateJudgement(a.judge.decide(ctx, a.subject)); err != nil {
		return err
	}
	r, d := &a.entry.record, a.judgement.Decision
	r.Decision, r.DecidedBy = d, "default"
	switch {
	case a.subject.call.Direct:
		r.DecidedBy = r.Principal
	case d.Rule != "":
		r.DecidedBy = "rule " + d.Rule
	}
	if d.Verdict != policy.Deny {
		return nil
	}
	return a.entry.end(ctx, protocol.CallDenied, nil, denialText(d))
}

// updateJudgement takes the judgement of the call by the rules of now.
func (a *activeCall) updateJudgement(j judgement, err error) error {
	a.judgement, a.permit.code = j, j.code
	return err
}
