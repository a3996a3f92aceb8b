package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// task is one call in progress.
type task struct {
	*Pipeline
	call   Call
	row    store.Call // the state of an earlier start, until do fills it
	spec   protocol.ToolSpec
	stored bool // row is in the journal
	over   bool // row has its end
	// The decision, and who made it.
	verdict policy.Decision
	by      string
	policy  string                  // the version of the rules under which the person was asked
	changed bool                    // the person replaced the agent's arguments
	opened  []protocol.FolderAccess // the folders outside the workspace that the call may use
}

// do runs the task. It always closes a call that an earlier start left waiting, and one whose
// context ends early.
func (t *task) do(ctx context.Context, p auth.Principal) (Result, error) {
	err := t.prepare(ctx, p)
	var res Result
	if err == nil {
		res, err = t.run(ctx)
	}
	switch {
	case err == nil || t.over || errors.Is(err, protocol.ErrStorage) || errors.Is(err, approval.ErrSuspended):
		return res, err
	case t.row.Info.CallID == "":
		return res, err // nothing was published about it
	case context.Cause(ctx) != nil:
		return t.stopped(ctx, nil)
	case t.stored:
		return t.end(ctx, protocol.CallFailed, nil, err.Error())
	}
	return res, err
}

// prepare finds the tool and fills the row.
func (t *task) prepare(ctx context.Context, p auth.Principal) error {
	c := &t.call
	node, spec, err := t.lookup(ctx)
	if err != nil {
		return err
	}
	if err := toolkit.Validate(spec.InputSchema, c.Args); err != nil {
		return err
	}
	if len(c.Args) == 0 {
		c.Args = json.RawMessage("{}")
	}
	key, err := idempotencyKey(*c)
	if err != nil {
		return err
	}
	if spec.EffectOf != nil {
		spec.Effect = spec.EffectOf(c.Args)
	}
	t.spec = spec
	t.row = store.Call{
		Info: protocol.CallInfo{
			CallID: c.ID, ToolCallID: c.ToolCallID, SessionKey: c.Session, RunID: c.Run, Node: node, Tool: spec.Name,
			Args: c.Args, Effect: spec.Effect, State: protocol.CallWaiting, Direct: c.Direct, ApprovalID: t.row.Info.ApprovalID,
		},
		AskedBy: c.AskedBy, Principal: p.String(), IdempotencyKey: key, Idempotent: spec.Idempotent, Attempt: t.row.Attempt + 1,
		CreatedAt: time.Now().UnixMilli(), Iteration: c.Iteration,
	}
	t.row.InputSHA256, t.row.InputBytes = digest(c.Args)
	return nil
}

// comeBack is the time that a call from before a restart waits for its node. It is longer than the
// longest pause between two connection attempts of a node.
const comeBack = 45 * time.Second

// lookup finds the tool. After a restart nodes reconnect one by one: a call that already has an
// approval waits for its node.
func (t *task) lookup(ctx context.Context) (protocol.NodeID, protocol.ToolSpec, error) {
	if a := t.call.Act; a != nil {
		return t.actOf(a)
	}
	node, spec, err := t.nodes.Lookup(t.call.Tool)
	if !t.stored || !errors.Is(err, protocol.ErrUnavailable) {
		return node, spec, err
	}
	t.when(ctx, func() bool {
		node, spec, err = t.nodes.Lookup(t.call.Tool)
		return !errors.Is(err, protocol.ErrUnavailable)
	})
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return node, spec, err
}

// when waits until ok, which depends on nodes, returns true, for at most the time that nodes get to
// reconnect.
func (d *Pipeline) when(ctx context.Context, ok func() bool) {
	sub := d.bus.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeNode })
	defer sub.Close()
	if ok() {
		return
	}
	late, cancel := context.WithTimeout(ctx, comeBack)
	defer cancel()
	for range sub.All(late) {
		if ok() {
			return
		}
	}
}

// look returns the invocation with args, for validation and preview.
func (t *task) look(args json.RawMessage) protocol.ToolInvoke {
	return protocol.ToolInvoke{Tool: t.spec.Name, Args: args, SessionKey: t.call.Session, RunID: t.call.Run}
}

// run takes the call through preview, approval, journal and node.
func (t *task) run(ctx context.Context) (Result, error) {
	var preview protocol.CallPreview
	var ok bool
	var err error
	// A call without an approval and without a window needs no preview.
	if !t.call.Direct || t.call.Session != "" {
		preview, ok, err = t.nodes.Preview(ctx, t.row.Info.Node, t.look(t.call.Args))
	}
	if err != nil && context.Cause(ctx) != nil {
		return t.stopped(ctx, nil)
	}
	var failed *nodes.ToolError
	switch {
	case errors.As(err, &failed):
		// The node already refuses the call, so it needs no approval.
		return t.end(ctx, protocol.CallFailed, nil, failed.Text)
	case err == nil && ok:
		t.row.Info.Preview = &preview
		// For credentials, the reason of a failure would reveal their contents: whether a text is
		// found, or a file exists.
		if preview.Problem != "" && preview.Secret == "" {
			return t.end(ctx, protocol.CallFailed, nil, preview.Problem)
		}
	}
	decision, request, err := t.decide(ctx)
	if err != nil {
		return Result{}, err
	}
	t.credit(decision)
	switch decision.Verdict {
	case policy.Deny:
		return t.refused(ctx, decision)
	case policy.Ask:
		if res, done, err := t.ask(ctx, decision, request); done || err != nil {
			return res, err
		}
	}
	return t.act(ctx)
}

// act commits the journal row and sends the call to the node.
func (t *task) act(ctx context.Context) (Result, error) {
	if context.Cause(ctx) != nil {
		return t.stopped(ctx, nil)
	}
	t.row.Info.State, t.row.Info.StartedAt = protocol.CallRunning, time.Now().UnixMilli()
	if err := t.put(ctx); err != nil {
		t.row.Info.State, t.row.Info.StartedAt = protocol.CallWaiting, 0
		return Result{}, err // no call runs without its journal row
	}
	t.withdraw(ctx)
	running := t.show(t.row.Info)
	if t.call.OnStart != nil {
		t.call.OnStart()
	}
	limit := t.limit()
	callCtx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	inv, err := t.invocation()
	if err != nil {
		return t.end(ctx, protocol.CallFailed, nil, err.Error())
	}
	if t.row.Info.Node == protocol.NativePrefix {
		callCtx = WithCause(callCtx, t.call.AskedBy)
	}
	raw, err := t.nodes.Call(callCtx, t.row.Info.Node, inv, t.progress(running))
	return t.outcome(ctx, raw, err, limit)
}

// invocation returns the message to the node.
func (t *task) invocation() (protocol.ToolInvoke, error) {
	inv := protocol.ToolInvoke{
		CallID: t.call.ID, Tool: t.spec.Name, Args: t.call.Args, IdempotencyKey: t.row.IdempotencyKey,
		SessionKey: t.call.Session, RunID: t.call.Run, Direct: t.call.Direct,
	}
	if p := t.row.Info.Preview; p != nil && t.spec.Effect == protocol.EffectWrite {
		inv.Expect = p.FileSHA256
	}
	if t.row.Info.ApprovalID != "" && t.row.Info.Node != protocol.NativePrefix {
		inv.Approved, inv.Policy = t.row.Hash, t.policy
	}
	inv.Network = t.network()
	if err := t.bind(&inv); err != nil {
		return inv, err
	}
	return inv, t.admit(&inv)
}

// progress publishes the node's reports while the call runs, based on its state at the start.
func (t *task) progress(running *protocol.CallInfo) func(protocol.ToolProgress) {
	return func(p protocol.ToolProgress) {
		info := *running
		info.Tail, info.Bytes = p.Tail, p.Bytes
		t.show(info)
	}
}

// outcome ends the call with the node's response or error.
func (t *task) outcome(ctx context.Context, raw json.RawMessage, err error, limit time.Duration) (Result, error) {
	var failed *nodes.ToolError
	switch {
	case err == nil:
		return t.finished(ctx, raw)
	case errors.As(err, &failed):
		return t.end(ctx, protocol.CallFailed, nil, failed.Text)
	case context.Cause(ctx) != nil:
		return t.stopped(ctx, raw)
	case errors.Is(err, errTimeout):
		state, text := protocol.CallFailed, fmt.Sprintf("The call took longer than %s and was stopped.", limit)
		if t.silence(raw) != "" { // nobody knows whether it ran
			state, text = protocol.CallUnknown, fmt.Sprintf("The call took longer than %s. ", limit)+unknownText(t.row)
		}
		res, err := t.end(ctx, state, raw, text)
		if err == nil && t.call.Direct && t.call.Session == "" {
			err = errTimeout // a tool.invoke that takes too long is answered with an error
		}
		return res, err
	case errors.Is(err, protocol.ErrUnavailable):
		// The node disconnected during the call.
		if t.spec.Effect == protocol.EffectRead {
			return t.end(ctx, protocol.CallFailed, nil, err.Error())
		}
		return t.end(ctx, protocol.CallUnknown, nil, err.Error()+". "+unknownText(t.row))
	}
	return t.end(ctx, protocol.CallFailed, nil, err.Error())
}
